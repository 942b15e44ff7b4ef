package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/response"
)

// confidence of every interval in the document.
const confidence = 0.95

// clock turns Unix nanoseconds into a time of the document.
func clock(ns int64) *time.Time {
	t := time.Unix(0, ns).UTC()
	return &t
}

// some returns a pointer to v, or nil where v is not a finite number.
func some(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// per returns n/d, or nil where d is 0.
func per(n, d float64) *float64 {
	if d <= 0 {
		return nil
	}
	return some(n / d)
}

// ratio returns n/d, and 0 where d is 0.
func ratio(n, d int64) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / float64(d)
}

func seconds(ns int64) *float64 { return some(float64(ns) / 1e9) }

func estimate(e response.Estimate) wire.Estimate {
	return wire.Estimate{Value: e.Value, Lo: e.Lo, Hi: e.Hi, Confidence: e.Confidence}
}

// human prints a count with thousands separators.
func human(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 && c != '-' && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// rate prints a rate for a sentence.
func rate(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return human(int64(math.Round(v))) + "/s"
	case a >= 100:
		return fmt.Sprintf("%.0f/s", v)
	default:
		return fmt.Sprintf("%.3g/s", v)
	}
}

// bound prints the end of an interval of rates.
func bound(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return human(int64(math.Round(v)))
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// share prints a ratio for a sentence, as percent.
func share(v float64) string {
	p := 100 * v
	switch {
	case p > 99 && v < 1: // never rounded up to all
		return fmt.Sprintf("%.4g %%", math.Floor(p*100)/100)
	case p >= 10:
		return fmt.Sprintf("%.0f %%", p)
	default:
		return fmt.Sprintf("%.2g %%", p)
	}
}

// lasting prints a time for a sentence.
func lasting(s float64) string {
	switch {
	case s >= 100:
		return fmt.Sprintf("%.0f s", s)
	case s >= 1:
		return fmt.Sprintf("%.3g s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.3g ms", s*1e3)
	default:
		return fmt.Sprintf("%.3g µs", s*1e6)
	}
}

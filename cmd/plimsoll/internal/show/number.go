package show

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// none stands where the data cannot say.
const none = "–"

// number writes three significant digits, and all digits before the point with
// commas between thousands.
func number(v float64) string {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return none
	case abs == 0:
		return "0"
	case abs >= 99.95:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case abs >= 1e-4:
		digits := 2 - int(math.Floor(math.Log10(abs)+1e-9))
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func whole(v int64) string { return thousands(strconv.FormatInt(v, 10)) }

// seconds writes a time in the unit that suits it.
func seconds(v float64) string {
	switch abs := math.Abs(v); {
	case abs == 0:
		return "0 s"
	case abs < 0.0009995:
		return number(v*1e6) + " µs"
	case abs < 0.9995:
		return number(v*1e3) + " ms"
	default:
		return number(v) + " s"
	}
}

func rate(v *float64) string {
	if v == nil {
		return none
	}
	return number(*v) + "/s"
}

func plain(v *float64) string {
	if v == nil {
		return none
	}
	return number(*v)
}

func maybeSeconds(v *float64) string {
	if v == nil {
		return none
	}
	return seconds(*v)
}

func percent(v float64) string { return number(v*100) + " %" }

// quantile writes an estimate of a time: its value, the bound that it lies
// above, or that there is none.
func quantile(e *wire.Estimate) string {
	switch {
	case e.Value != nil:
		return seconds(*e.Value)
	case e.Lo != nil:
		return "> " + seconds(*e.Lo)
	default:
		return none
	}
}

// interval writes an estimate of a rate with its interval.
func interval(e *wire.Estimate) string {
	if e == nil || e.Value == nil {
		return none
	}
	text := number(*e.Value) + "/s"
	if e.Lo != nil && e.Hi != nil {
		text += fmt.Sprintf(" (%s to %s)", number(*e.Lo), number(*e.Hi))
	}
	return text
}

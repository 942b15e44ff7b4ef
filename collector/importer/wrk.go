package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// wrk prints a summary alone, and so does its sibling wrk2. What they call
// latency is corrected already: wrk fills in what it did not send, by the rate
// that it achieved; wrk2 counts from when its schedule wanted each request, and
// prints the other kind beside it with -U.
func wrk() Format {
	return Format{
		Name: "wrk", Title: "output of wrk or wrk2", Generator: "wrk", Document: true,
		Sniff: func(head []byte) bool {
			at := lineWith(head, "Running ")
			return at >= 0 && bytes.Contains(head[at:min(len(head), at+2048)], []byte(" test @ ")) &&
				bytes.Contains(head[at:], []byte(" connections"))
		},
		Read: readWrk,
	}
}

// lineWith returns where a line begins with the text, or -1.
func lineWith(head []byte, text string) int {
	if bytes.HasPrefix(head, []byte(text)) {
		return 0
	}
	if i := bytes.Index(head, []byte("\n"+text)); i >= 0 {
		return i + 1
	}
	return -1
}

// wrkResult is what the output says.
type wrkResult struct {
	second      bool // wrk2
	runs        int
	connections float64
	requests    float64
	seconds     float64
	perSecond   float64
	failed      float64
	socket      string
	tables      [2]wrkTable // as recorded, and uncorrected
	max         []ranked    // the largest latency, of rank 1
}

// wrkTable is one latency distribution.
type wrkTable struct {
	quantiles []ranked // rank is in millionths until the total is known
	spectrum  []ranked
	total     uint64
	mean      float64 // seconds
}

var errNoTotal = errors.New("output ends before the number of requests")

func readWrk(_ context.Context, src *Source, sink *Sink) error {
	var r wrkResult
	table := -1
	err := lines(src, sink, func(line []byte) error {
		if r.runs > 1 {
			return nil
		}
		return r.line(string(line), &table)
	})
	if err != nil {
		return err
	}
	if r.runs > 1 {
		sink.Warn("the file holds the output of several runs: only the first was read")
	}
	if r.requests == 0 {
		return fmt.Errorf("read %s: %w", sink.format.Title, errNoTotal)
	}
	return r.tell(sink)
}

// line reads one line; table is the distribution that it may belong to.
func (r *wrkResult) line(line string, table *int) error {
	if r.runs > 0 && strings.HasPrefix(line, "Running ") {
		r.runs++
		return nil
	}
	f := strings.Fields(line)
	switch {
	case len(f) == 0:
	case f[0] == "Running":
		r.runs++
	case strings.Contains(line, "Uncorrected Latency"):
		*table = 1
	case strings.Contains(line, "Latency Distribution"):
		r.second = r.second || strings.Contains(line, "HdrHistogram")
		*table = 0
	case strings.Contains(line, "Thread calibration"):
		r.second = true
	case len(f) >= 5 && f[1] == "threads" && f[4] == "connections":
		return number(f[3], &r.connections)
	case len(f) >= 4 && f[0] == "Latency":
		v, decimals, unit, err := wrkTime(f[3])
		lo, hi := printed(v, decimals, unit)
		r.max = []ranked{{1, lo, hi}}
		return err
	case len(f) >= 4 && f[1] == "requests" && f[2] == "in":
		v, _, unit, err := wrkTime(strings.TrimSuffix(f[3], ","))
		r.seconds = v * unit
		return errors.Join(err, number(f[0], &r.requests))
	case f[0] == "Requests/sec:" && len(f) == 2:
		return number(f[1], &r.perSecond)
	case strings.HasPrefix(strings.TrimSpace(line), "Non-2xx or 3xx responses:"):
		return number(f[len(f)-1], &r.failed)
	case strings.HasPrefix(strings.TrimSpace(line), "Socket errors:"):
		r.socket = strings.TrimSpace(line)
	case *table >= 0:
		return r.tables[*table].line(f)
	}
	return nil
}

func (t *wrkTable) line(f []string) error {
	switch {
	case strings.HasPrefix(f[0], "#[Mean") && len(f) >= 3:
		var ms float64
		err := number(strings.TrimSuffix(f[2], ","), &ms)
		t.mean = ms / 1e3
		return err
	case len(f) == 2 && strings.HasSuffix(f[0], "%"):
		var q float64
		v, decimals, unit, err := wrkTime(f[1])
		if err := errors.Join(err, number(strings.TrimSuffix(f[0], "%"), &q)); err != nil {
			return err
		}
		lo, hi := printed(v, decimals, unit)
		t.quantiles = append(t.quantiles, ranked{uint64(max(0, min(q, 100))*1e6 + 0.5), lo, hi})
	case len(f) == 4 && strings.Contains(f[0], ".") && strings.Contains(f[1], "."):
		var ms, n float64
		if err := errors.Join(number(f[0], &ms), number(f[2], &n)); err != nil {
			return err
		}
		lo, hi := hdrBar(math.Round(ms * 1e3))
		t.spectrum = append(t.spectrum, ranked{uint64(n), lo / 1e6, hi / 1e6})
		t.total = max(t.total, uint64(n))
	}
	return nil
}

// hdrBar is the bar of a histogram of three digits that ends at a value.
func hdrBar(v float64) (lo, hi float64) {
	width := 1.0
	for v >= 2048*width {
		width *= 2
	}
	return max(0, v-width), v
}

// distribution joins both forms. Beyond the rank of a line of the spectrum all
// values are larger than its value, which makes the printed percentiles exacter.
func (t *wrkTable) distribution(n uint64, top []ranked) *sample.Distribution {
	if t.total > 0 {
		n = t.total
	}
	table := append([]ranked{}, t.spectrum...)
	for _, r := range t.quantiles {
		r.rank = rankOf(float64(r.rank)/1e8, n)
		if slices.ContainsFunc(t.spectrum, func(s ranked) bool { return s.rank == r.rank }) {
			continue
		}
		for _, s := range t.spectrum {
			if s.rank < r.rank {
				r.lo = max(r.lo, s.hi)
			} else {
				r.hi = min(r.hi, s.hi)
			}
		}
		table = append(table, r)
	}
	for _, r := range top {
		if r.rank = n; t.total == 0 {
			table = append(table, r)
		}
	}
	if len(table) == 0 || len(t.quantiles)+len(t.spectrum) == 0 {
		return nil
	}
	return ranks(n, table)
}

// wrk2Calibration is how long wrk2 measures nothing, at its start, in seconds.
const wrk2Calibration = 10.0

func (r *wrkResult) tell(sink *Sink) error {
	end, err := sink.End()
	if err != nil {
		return err
	}
	if r.perSecond > 0 {
		r.seconds = r.requests / r.perSecond // printed with more digits than the duration
	}
	t := tally{sink: sink, tool: "wrk", from: end - nanos(r.seconds), to: end}
	if r.second {
		t.tool = "wrk2"
	}
	t.count(sentName, r.requests)
	t.count(endedName, r.requests)
	t.count(failedName, r.failed)
	t.level(workersName, r.connections)
	recorded, plain := &r.tables[0], &r.tables[1]
	if r.second && r.seconds > 2*wrk2Calibration {
		t.from += nanos(wrk2Calibration)
		if recorded.total > 0 {
			sink.Warn("wrk2 measures no latency in its first 10 s: percentiles are of the %d of %.0f requests after that", recorded.total, r.requests)
		} else {
			sink.Warn("wrk2 measures no latency in its first 10 s: percentiles are about the time after that")
		}
	}
	t.times(responseSummaryName, recorded.distribution(uint64(r.requests), r.max), recorded.mean*float64(recorded.total))
	t.times(serviceSummaryName, plain.distribution(uint64(r.requests), nil), plain.mean*float64(plain.total))
	r.advise(sink)
	return t.err
}

func (r *wrkResult) advise(sink *Sink) {
	if r.socket != "" {
		sink.Warn("%s: requests that got no answer are in no other number", r.socket)
	}
	switch {
	case r.second && len(r.tables[0].quantiles) == 0:
		sink.Advise("-L prints percentiles, and -U those that are counted from the send")
	case r.second && len(r.tables[1].quantiles) == 0:
		sink.Advise("-U prints the percentiles that are counted from the send, too")
	case !r.second && len(r.tables[0].quantiles) == 0:
		sink.Advise("--latency prints percentiles")
	}
	if !r.second {
		sink.Warn("wrk corrects its latencies itself, by the rate that it achieved: they were not measured (grade X)")
	}
}

// wrkTime reads a time as wrk prints it: its number, how many decimals that has,
// and its unit in seconds.
func wrkTime(s string) (v float64, decimals int, unit float64, err error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	units := map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
	unit, ok := units[s[len(digits):]]
	if !ok {
		return 0, 0, 0, fmt.Errorf("%w %.40q", errTime, s)
	}
	if i := strings.IndexByte(digits, '.'); i >= 0 {
		decimals = len(digits) - i - 1
	}
	err = number(digits, &v)
	return v, decimals, unit, err
}

// number reads a number that is neither negative nor endless.
func number(s string, v *float64) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f > 1e18 || math.IsNaN(f) {
		return fmt.Errorf("%w %.40q", errNumber, s)
	}
	*v = f
	return nil
}

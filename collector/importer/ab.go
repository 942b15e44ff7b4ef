package importer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const abHeader = "starttime\tseconds\tctime\tdtime\tttime\twait"

// abPlot is what ab writes with -g: every request with the second in which it
// began and how long it took in ms, sorted by the latter. Within a second nothing
// is known, so requests are counted by second (grade F). Memory grows with the
// length of the run and the number of different times, not with its requests.
func abPlot() Format {
	return Format{
		Name: "ab-gnuplot", Title: "ab -g file", Generator: "ab", Document: true,
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(abHeader)) },
		Read:  readAB,
	}
}

// mostSeconds bounds how long a run of ab may be.
const mostSeconds = 7 * 24 * 3600

func readAB(_ context.Context, src *Source, sink *Sink) error {
	if _, err := header(src, sink); err != nil {
		return err
	}
	seconds := map[int64]map[int64]uint64{} // by second, then by ms: how many
	err := records(src, sink, '\t', func(f [][]byte) error {
		if len(f) != 6 {
			return fmt.Errorf("%w: %d", errColumns, len(f))
		}
		at, err := integer(f[1])
		if err != nil {
			return err
		}
		took, err := integer(f[4])
		if err != nil || at > mostTime/1e9 || took > mostTime/1e6 {
			return fmt.Errorf("%w %q", errNumber, trimmed(f[4]))
		}
		if seconds[at] == nil {
			if len(seconds) == mostSeconds {
				return fmt.Errorf("%w %d: the run lasts too long", errTime, at)
			}
			seconds[at] = map[int64]uint64{}
		}
		seconds[at][took]++
		return nil
	})
	if err != nil {
		return err
	}
	sink.Warn("ab writes the second in which a request began, and neither status nor failures: requests are counted by second")
	sink.Advise("an open generator (Vegeta, oha -q with --latency-correction --db-url, k6 arrival rates) sends whatever the service does")
	for _, at := range slices.Sorted(maps.Keys(seconds)) {
		d, sum := rounded(seconds[at], 1e-3)
		t := tally{sink: sink, tool: "ab", from: at * 1e9, to: (at + 1) * 1e9}
		t.count(sentName, float64(d.Count))
		t.count(endedName, float64(d.Count))
		t.times(serviceTimeName, d, sum)
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// rounded is the distribution of values that were rounded to whole units, and their
// sum. Each has a bucket of its own; those without a value are left out.
func rounded(counts map[int64]uint64, unit float64) (d *sample.Distribution, sum float64) {
	d = &sample.Distribution{Min: math.NaN(), Max: math.NaN()}
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		n := counts[v]
		lo, hi := max(0, float64(v)-0.5)*unit, (float64(v)+0.5)*unit
		if last := len(d.Bounds) - 1; last < 0 || d.Bounds[last] != lo {
			d.Bounds, d.Buckets = append(d.Bounds, lo), append(d.Buckets, 0)
		}
		d.Bounds, d.Buckets = append(d.Bounds, hi), append(d.Buckets, n)
		d.Count += n
		sum += float64(v) * float64(n) * unit
	}
	d.Buckets = append(d.Buckets, 0)
	return d, sum
}

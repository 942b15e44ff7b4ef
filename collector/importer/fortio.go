package importer

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// fortioResult is what fortio writes with -json: a histogram of the whole run,
// counted from the send. The percentiles beside it are interpolated within its
// buckets and say no more.
func fortioResult() Format {
	return Format{
		Name: "fortio", Title: "fortio result", Generator: "fortio", Document: true,
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"RunType"`)) &&
				bytes.Contains(head, []byte(`"DurationHistogram"`))
		},
		Read: readFortio,
	}
}

// fortioHistogram has values in seconds.
type fortioHistogram struct {
	Count         float64
	Min, Max, Sum float64
	Data          []struct{ Start, End, Count float64 }
}

type fortioRun struct {
	StartTime               string
	RequestedQPS            string
	ActualDuration          int64 // ns
	NumThreads              float64
	DurationHistogram       fortioHistogram
	ErrorsDurationHistogram *fortioHistogram
}

func readFortio(_ context.Context, src *Source, sink *Sink) error {
	var r fortioRun
	if err := newDocument(src).value(&r); err != nil {
		return err
	}
	from, err := new(clock).parse([]byte(r.StartTime))
	if err != nil {
		return fmt.Errorf("read %s: StartTime: %w", sink.format.Title, err)
	}
	h := &r.DurationHistogram
	if r.ActualDuration <= 0 || r.ActualDuration > mostTime || h.Count < 1 || h.Count > 1e15 {
		return fmt.Errorf("read %s: %d ns, %g requests: %w", sink.format.Title, r.ActualDuration, h.Count, errNumber)
	}
	d, err := h.distribution()
	if err != nil {
		return fmt.Errorf("read %s: %w", sink.format.Title, err)
	}
	t := tally{sink: sink, tool: "fortio", from: from, to: from + r.ActualDuration}
	t.count(sentName, h.Count)
	t.count(endedName, h.Count)
	if e := r.ErrorsDurationHistogram; e != nil && e.Count >= 0 && e.Count <= h.Count {
		t.count(failedName, e.Count)
	}
	t.count(inFlightTimeName, h.Sum)
	t.level(workersName, r.NumThreads)
	t.times(serviceSummaryName, d, h.Sum)
	if r.RequestedQPS != "max" {
		sink.Warn("fortio was asked for %.20s requests a second and counts from the send: how late it sent them is not in this file", r.RequestedQPS)
	}
	sink.Advise("-access-log-file writes the start of every request")
	return t.err
}

// distribution makes buckets of it; empty ones are not in the file.
func (h *fortioHistogram) distribution() (*sample.Distribution, error) {
	d := &sample.Distribution{Count: uint64(h.Count), Min: h.Min, Max: h.Max}
	var seen uint64
	last := math.Inf(-1)
	for _, b := range h.Data {
		// Its first bucket begins with the smallest value, and the bounds hold that.
		if !(b.Start >= last && b.End >= b.Start && b.Start >= 0 && b.Count >= 0 && b.Count <= h.Count) {
			return nil, fmt.Errorf("%w: bucket from %g to %g with %g values", errNumber, b.Start, b.End, b.Count)
		}
		lo := b.Start
		if len(d.Bounds) == 0 || b.End == b.Start {
			lo = math.Nextafter(b.Start, 0)
		}
		if n := len(d.Bounds); n == 0 || lo > d.Bounds[n-1] {
			d.Bounds, d.Buckets = append(d.Bounds, lo), append(d.Buckets, 0)
		}
		if b.End > d.Bounds[len(d.Bounds)-1] {
			d.Bounds, d.Buckets = append(d.Bounds, b.End), append(d.Buckets, 0)
		}
		d.Buckets[len(d.Buckets)-1] += uint64(b.Count)
		seen += uint64(b.Count)
		last = b.End
	}
	if seen != d.Count {
		return nil, fmt.Errorf("%w: buckets hold %d of %d values", errNumber, seen, d.Count)
	}
	d.Buckets = append(d.Buckets, 0)
	return d, nil
}

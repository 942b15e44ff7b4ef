package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// aiperfExport is profile_export.jsonl of aiperf: a line a request. Newer builds
// write when the credit of a request was issued, which is when it was due (grade
// A) unless credits were held back. Requests of the warm-up are left out.
func aiperfExport() Format {
	return Format{
		Name: "aiperf", Title: "aiperf profile export", Generator: "aiperf",
		Sniff: func(head []byte) bool {
			line, _, _ := bytes.Cut(head, []byte("\n"))
			return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && bytes.Contains(line, []byte(`"request_start_ns"`)) && bytes.Contains(line, []byte(`"metadata"`))
		},
		Read: readAiperf,
	}
}

// aiperfRecord is one line.
type aiperfRecord struct {
	scan               jsonScan
	issued, start, end int64 // ns since 1970
	warmup, cancelled  bool
	firstS             float64 // to the first token
	tokens, said       int64   // of the answer; all, and those that are no reasoning
	failed             bool
	code               int64
	kind, message      []byte
	conversation       bool
	session            int64
}

func (r *aiperfRecord) read(line []byte) error {
	*r = aiperfRecord{scan: jsonScan{b: line}}
	r.scan.object(func(key []byte) {
		switch string(key) {
		case "metadata":
			r.scan.object(r.metadata)
		case "metrics":
			if r.scan.peek() == '{' {
				r.scan.object(r.metric)
				return
			}
			r.scan.skip()
		case "error":
			if r.failed = r.scan.peek() == '{'; r.failed {
				r.scan.object(r.problem)
				return
			}
			r.scan.skip()
		default:
			r.scan.skip()
		}
	})
	r.scan.end()
	switch {
	case r.scan.err != nil:
		return r.scan.err
	case r.start <= 0 || r.end < r.start:
		return fmt.Errorf("%w: a request from %d to %d ns", errJSON, r.start, r.end)
	}
	return nil
}

func (r *aiperfRecord) metadata(key []byte) {
	switch string(key) {
	case "session_num":
		r.session = r.scan.integer()
	case "credit_issued_ns":
		r.issued = r.scan.integer()
	case "request_start_ns":
		r.start = r.scan.integer()
	case "request_end_ns":
		r.end = r.scan.integer()
	case "benchmark_phase":
		r.warmup = string(r.scan.text()) != "profiling"
	case "was_cancelled":
		r.cancelled = r.scan.peek() == 't'
		r.scan.skip()
	case "turn_index":
		r.conversation = r.scan.integer() > 0 || r.conversation
	default:
		r.scan.skip()
	}
}

func (r *aiperfRecord) metric(key []byte) {
	var to *float64
	var count float64
	switch string(key) {
	case "time_to_first_token":
		to = &r.firstS
	case "output_sequence_length", "output_token_count":
		to = &count
	default:
		r.scan.skip()
		return
	}
	unit := 1.0
	r.scan.object(func(member []byte) {
		switch string(member) {
		case "value":
			*to = r.scan.float()
		case "unit":
			unit = secondsOf(string(r.scan.text()))
		default:
			r.scan.skip()
		}
	})
	switch string(key) {
	case "time_to_first_token":
		r.firstS *= unit
	case "output_sequence_length":
		r.tokens = int64(min(max(count, 0), 1e12))
	default:
		r.said = int64(min(max(count, 0), 1e12))
	}
}

// secondsOf is a unit of time in seconds; 1 for what is none.
func secondsOf(unit string) float64 {
	switch unit {
	case "ms":
		return 1e-3
	case "us", "µs":
		return 1e-6
	case "ns":
		return 1e-9
	}
	return 1
}

func (r *aiperfRecord) problem(key []byte) {
	switch string(key) {
	case "code":
		r.code = r.scan.integer()
	case "type":
		r.kind = plainText(&r.scan)
	case "message":
		r.message = plainText(&r.scan)
	default:
		r.scan.skip()
	}
}

// plainText reads a string; null is an empty one.
func plainText(s *jsonScan) []byte {
	if s.peek() == 'n' {
		s.skip()
		return nil
	}
	return s.text()
}

func (r *aiperfRecord) outcome() (sample.Outcome, int16) {
	switch {
	case r.cancelled:
		return sample.Cancelled, 0
	case !r.failed:
		return sample.OK, 0
	case r.code >= 400 && r.code <= 599 && r.code != 499:
		return answered(r.code), statusOf(r.code)
	}
	if o := failedWith(r.kind); o != sample.Error {
		return o, 0
	}
	return failedWith(r.message), 0
}

func readAiperf(_ context.Context, src *Source, sink *Sink) error {
	src.AllowLines(16 << 20) // times between tokens are in the line
	var r aiperfRecord
	warmups, undated, later := 0, 0, 0
	credits := credits{sink: sink}
	err := lines(src, sink, func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		if err := r.read(line); err != nil {
			return err
		}
		if r.warmup {
			warmups++
			return nil
		}
		row := sample.Row{Sent: r.start, Done: r.end, Index: sample.NoIndex, Tokens: r.tokens}
		if row.Tokens == 0 {
			row.Tokens = r.said
		}
		row.Outcome, row.Status = r.outcome()
		if r.firstS > 0 {
			row.FirstByte = min(r.start+nanos(r.firstS), r.end)
		}
		switch {
		case r.issued <= 0:
			undated++
		case r.conversation:
			later++ // due when the turn before was answered
		default:
			row.Intended = min(r.issued, r.start)
		}
		return stop(credits.add(&row, r.session))
	})
	if err == nil {
		err = credits.flush(true)
	}
	if warmups > 0 {
		sink.Warn("%d requests of the warm-up were left out", warmups)
	}
	if undated > 0 {
		sink.Warn("%d requests do not say when they were due (credit_issued_ns): they are counted from the send", undated)
		sink.Advise("a newer aiperf writes credit_issued_ns, which is when a request was due")
	}
	if later > 0 {
		sink.Warn("%d requests are later turns of a conversation, which follow the answer before: they are counted from the send", later)
	}
	return err
}

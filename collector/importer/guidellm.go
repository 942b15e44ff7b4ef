package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// guidellmReport is the JSON report of guidellm: benchmarks one after another,
// each with its requests and when each was due (targeted_start, grade A). The
// benchmarks become named load steps.
func guidellmReport() Format {
	return Format{
		Name: "guidellm", Title: "guidellm report", Generator: "guidellm", Document: true,
		Sniff: func(head []byte) bool {
			head = bytes.TrimSpace(head)
			return bytes.HasPrefix(head, []byte("{")) && (bytes.Contains(head, []byte(`"guidellm_version"`)) ||
				bytes.Contains(head, []byte(`"benchmarks"`)) && bytes.Contains(head, []byte(`"generative_benchmark"`)))
		},
		Read: readGuidellm,
	}
}

// guidellmConfig is what a benchmark was asked for.
type guidellmConfig struct {
	Strategy struct {
		Type    string  `json:"type_"`
		Rate    float64 `json:"rate"`
		Streams float64 `json:"streams"`
		Ramp    float64 `json:"rampup_duration"`
	} `json:"strategy"`
	SampleSize *float64 `json:"sample_size"`
}

// guidellmMade is how many requests there were, whether they are in the report or
// not.
type guidellmMade struct {
	Made struct {
		Successful float64 `json:"successful"`
		Errored    float64 `json:"errored"`
		Incomplete float64 `json:"incomplete"`
	} `json:"requests_made"`
}

// guidellmRequest is a request; times are seconds since 1970.
type guidellmRequest struct {
	Info struct {
		Error   *string `json:"error"`
		Turn    int     `json:"turn_index"`
		Timings struct {
			Targeted     float64 `json:"targeted_start"`
			ResolveStart float64 `json:"resolve_start"`
			RequestStart float64 `json:"request_start"`
			FirstToken   float64 `json:"first_token_iteration"`
			RequestEnd   float64 `json:"request_end"`
			ResolveEnd   float64 `json:"resolve_end"`
		} `json:"timings"`
	} `json:"info"`
	Tokens float64 `json:"output_tokens"`
	Output struct {
		Text  float64 `json:"text_tokens"`
		Total float64 `json:"total_tokens"`
	} `json:"output_metrics"`
}

// guidellmReader reads benchmark by benchmark.
type guidellmReader struct {
	sink    *Sink
	doc     *document
	n       int // benchmarks begun
	steps   map[string]int
	group   sample.Group
	timed   bool // when requests were due is known by a schedule
	sampled bool
	size    *float64
	later   int
}

func readGuidellm(_ context.Context, src *Source, sink *Sink) error {
	r := guidellmReader{sink: sink, doc: newDocument(src), steps: map[string]int{}}
	err := r.doc.object(func(key string) error {
		if key != "benchmarks" {
			return r.doc.skip()
		}
		return r.doc.array(func() error {
			r.n++
			r.group, r.timed, r.sampled, r.size = sample.Group{}, false, false, nil
			return r.doc.object(r.member)
		})
	})
	if r.later > 0 {
		sink.Warn("%d requests are later turns of a conversation, which follow the answer before: they are counted from the send", r.later)
	}
	return sink.torn(err)
}

// member reads a member of a benchmark; the configuration stands before the
// requests.
func (r *guidellmReader) member(key string) error {
	switch key {
	case "config":
		var c guidellmConfig
		if err := r.doc.value(&c); err != nil {
			return err
		}
		r.begin(&c)
		return nil
	case "scheduler_metrics":
		var m guidellmMade
		if err := r.doc.value(&m); err != nil {
			return err
		}
		if most := max(m.Made.Successful, m.Made.Errored, m.Made.Incomplete); r.size != nil && most > *r.size {
			r.sampled = true
			r.sink.Warn("benchmark %d keeps %.0f of its %.0f requests of a kind (sample_size): rates, load and backlog cannot be told", r.n, *r.size, most)
			r.sink.Advise("without a sample size the report keeps all requests")
		}
		return nil
	case "requests":
		if r.group.Step == "" {
			r.begin(&guidellmConfig{})
		}
		return r.doc.object(func(status string) error {
			if status != "successful" && status != "errored" && status != "incomplete" {
				return r.doc.skip()
			}
			return r.doc.array(func() error {
				var q guidellmRequest
				if err := r.doc.value(&q); err != nil {
					return err
				}
				return r.row(status, &q)
			})
		})
	}
	return r.doc.skip()
}

// begin notes how the benchmark decides when to send.
func (r *guidellmReader) begin(c *guidellmConfig) {
	s := &c.Strategy
	name := s.Type
	switch s.Type {
	case "constant", "poisson":
		r.timed, r.group.Model = true, sample.Open
		name = fmt.Sprintf("%s@%.2f", s.Type, s.Rate)
		if s.Rate > 0 && s.Ramp <= 0 {
			r.group.Rate, r.group.Process = s.Rate, s.Type
		}
	case "trace", "replay", "async":
		r.timed, r.group.Model = true, sample.Open
	case "synchronous", "throughput":
		r.group.Model = sample.Closed
	case "concurrent":
		r.group.Model = sample.Closed
		name = fmt.Sprintf("%s@%g", s.Type, s.Streams)
	case "":
		r.timed, name = true, "benchmark"
	}
	if r.steps[name]++; r.steps[name] > 1 {
		name = fmt.Sprintf("%s (%d)", name, r.steps[name])
	}
	r.group.Step, r.size = name, c.SampleSize
}

func (r *guidellmReader) row(status string, q *guidellmRequest) error {
	t := &q.Info.Timings
	sent, done := nanos(firstNonZero(t.RequestStart, t.ResolveStart)), nanos(firstNonZero(t.RequestEnd, t.ResolveEnd))
	if sent <= 0 {
		if status == "incomplete" {
			return nil // never sent before the benchmark ended
		}
		return r.sink.Bad(fmt.Errorf("request of benchmark %d that was %s: %w: no request_start", r.n, status, errTime))
	}
	row := sample.Row{Sent: sent, Done: max(done, sent), Index: sample.NoIndex, Tokens: tokens(firstNonZero(q.Tokens, q.Output.Total, q.Output.Text))}
	if at := nanos(t.FirstToken); at >= sent && at <= row.Done {
		row.FirstByte = at
	}
	switch status {
	case "errored":
		row.Outcome = sample.Error
		if q.Info.Error != nil {
			row.Outcome = failedWith([]byte(*q.Info.Error))
		}
	case "incomplete":
		row.Outcome = sample.Cancelled
	}
	switch due := nanos(t.Targeted); {
	case !r.timed || due <= 0:
	case q.Info.Turn > 0:
		r.later++
	default:
		row.Intended = min(due, sent)
	}
	if r.sampled {
		row.Flags = sample.Sampled
	}
	return r.sink.Row(&r.group, &row)
}

func firstNonZero(values ...float64) float64 {
	for _, v := range values {
		if v != 0 {
			return v
		}
	}
	return 0
}

// tokens is a number of tokens; what cannot be one is 0.
func tokens(v float64) int64 {
	if !(v > 0 && v < 1e12) {
		return 0
	}
	return int64(v)
}

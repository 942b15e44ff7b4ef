package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// vllmBench is the result of "vllm bench serve" with --save-result and
// --save-detailed: an object of arrays, one element a request. Requests begin at
// times of a clock of its own, so that the whole is placed by the date of the
// result. When a request was due is its start less what it waited for the limit
// of concurrency (grade A). With --append-result there is an object for each run;
// they become named load steps. The arrays of one run are held in memory, about
// 60 bytes a request.
func vllmBench() Format {
	return Format{
		Name: "vllm-bench", Title: "vLLM benchmark result", Generator: "vllm-bench", Document: true,
		Sniff: func(head []byte) bool {
			head = bytes.TrimSpace(head)
			return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"endpoint_type"`)) && bytes.Contains(head, []byte(`"num_prompts"`))
		},
		Read: readVLLM,
	}
}

// vllmMost is how many requests a run may have.
const vllmMost = 10_000_000

var (
	errDetailed = errors.New("it has no start times: --save-detailed writes them")
	errMany     = errors.New("too many requests")
)

type vllmRun struct {
	date        string
	rate        float64 // 0 for all at once
	burstiness  float64
	ramp        bool
	concurrency float64
	starts      []float64 // s, of a clock of its own
	queued      []float64 // s
	ttfts       []float64 // s
	between     []float64 // s: sum of the times between tokens
	latencies   []float64 // s
	tokens      []float64
	errors      []string
}

func readVLLM(_ context.Context, src *Source, sink *Sink) error {
	d := newDocument(src)
	steps := map[string]int{}
	for n := 0; n == 0 || d.more(); n++ {
		r := vllmRun{burstiness: 1}
		if err := d.object(func(key string) error { return r.member(d, key) }); err != nil {
			return sink.torn(err)
		}
		if err := r.tell(sink, steps); err != nil {
			return err
		}
	}
	return nil
}

func (r *vllmRun) member(d *document, key string) error {
	switch key {
	case "date":
		return d.value(&r.date)
	case "request_rate":
		var v any // a number, or "inf"
		err := d.value(&v)
		r.rate, _ = v.(float64)
		return err
	case "burstiness":
		return d.value(&r.burstiness)
	case "max_concurrency":
		return d.value(&r.concurrency)
	case "ramp_up_strategy":
		r.ramp = true
	case "start_times":
		return floats(d, &r.starts)
	case "queue_times":
		return floats(d, &r.queued)
	case "ttfts":
		return floats(d, &r.ttfts)
	case "latencies":
		return floats(d, &r.latencies)
	case "output_lens":
		return floats(d, &r.tokens)
	case "itls":
		return d.array(func() error {
			sum := 0.0
			var gaps []float64
			if err := d.value(&gaps); err != nil {
				return err
			}
			for _, v := range gaps {
				sum += v
			}
			return grow(&r.between, sum)
		})
	case "errors":
		return d.array(func() error {
			var raw json.RawMessage
			if err := d.value(&raw); err != nil {
				return err
			}
			var text string
			_ = json.Unmarshal(raw, &text) // null is no error
			return grow(&r.errors, text[:min(len(text), 1000)])
		})
	}
	return d.skip()
}

// floats reads an array of numbers; null is 0.
func floats(d *document, to *[]float64) error {
	return d.array(func() error {
		var v float64
		if err := d.value(&v); err != nil {
			return err
		}
		return grow(to, v)
	})
}

func grow[T any](to *[]T, v T) error {
	if len(*to) == vllmMost {
		return fmt.Errorf("read arrays: %w: more than %d", errMany, vllmMost)
	}
	*to = append(*to, v)
	return nil
}

// tell hands a run on.
func (r *vllmRun) tell(sink *Sink, steps map[string]int) error {
	if len(r.starts) == 0 {
		return fmt.Errorf("read %s: %w", sink.format.Title, errDetailed)
	}
	end, err := r.end(sink)
	if err != nil {
		return err
	}
	first, last := r.starts[0], 0.0
	for i := range r.starts {
		first, last = min(first, r.starts[i]), max(last, r.starts[i]+r.took(i))
	}
	if !(last-first < 1e9) {
		return fmt.Errorf("read %s: %w: from %g to %g s", sink.format.Title, errTime, first, last)
	}
	g := r.group(steps)
	due := len(r.queued) == len(r.starts) && r.rate > 0
	failed := 0
	for i := range r.starts {
		row := sample.Row{Sent: end - nanos(last-r.starts[i]), Index: sample.NoIndex, Tokens: tokens(at(r.tokens, i))}
		row.Done = row.Sent + nanos(r.took(i))
		if t := at(r.ttfts, i); t > 0 {
			row.FirstByte = min(row.Sent+nanos(t), row.Done)
		}
		if due {
			row.Intended = row.Sent - nanos(max(0, r.queued[i]))
		}
		if text := at(r.errors, i); text != "" {
			failed++
			row.Outcome = failedWith([]byte(text))
		}
		if err := sink.Row(&g, &row); err != nil {
			return err
		}
	}
	if failed > 0 {
		sink.Warn("vLLM does not write when a request failed: the %d that did end when they began", failed)
	}
	if r.rate > 0 && !due && r.concurrency > 0 {
		sink.Warn("requests waited for --max-concurrency, and this version of vLLM does not write how long: they are counted from the send")
		sink.Advise("a newer vLLM writes queue_times")
	}
	return nil
}

// end is when the run ended. The date of the result is local, without a zone.
func (r *vllmRun) end(sink *Sink) (int64, error) {
	if sink.src.ended > 0 {
		return sink.End()
	}
	at, err := time.Parse("20060102-150405", r.date)
	if err != nil || at.Year() < 1971 {
		return sink.End()
	}
	sink.Warn("the date of the result, %s, has no time zone and is taken for UTC (--ended says otherwise)", r.date)
	return at.UnixNano(), nil
}

// took is how long a request was under way, in seconds.
func (r *vllmRun) took(i int) float64 {
	if v := at(r.latencies, i); v > 0 {
		return v
	}
	return max(0, at(r.ttfts, i)) + max(0, at(r.between, i))
}

func (r *vllmRun) group(steps map[string]int) sample.Group {
	g := sample.Group{Model: sample.Closed, Step: "all at once"}
	if r.rate > 0 {
		g.Model, g.Step = sample.Open, fmt.Sprintf("%g/s", r.rate)
		if !r.ramp {
			g.Rate = r.rate
			if r.burstiness == 1 {
				g.Process = "poisson"
			}
		}
	}
	if r.concurrency > 0 {
		g.Step += fmt.Sprintf(", at most %g", r.concurrency)
	}
	if steps[g.Step]++; steps[g.Step] > 1 {
		g.Step += fmt.Sprintf(" (%d)", steps[g.Step])
	}
	return g
}

// at returns an element, or nothing where there is none.
func at[T any](list []T, i int) (v T) {
	if i < len(list) {
		return list[i]
	}
	return v
}

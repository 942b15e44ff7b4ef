package otlp

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// skipped adds to what Artillery said of users whom it did not start (maxVusers)
// how many requests were dropped with them: a user stands for as many as the
// others sent in that period. Without it a run of spans would know nothing of
// them, and with users counted as requests too little.
func (d *Decoder) skipped() {
	for _, r := range d.router.Used() {
		b := r.Batch
		periods := map[skipper]*users{}
		for i := range b.Points {
			p, s := &b.Points[i], &b.Series[b.Points[i].Series]
			if s.Scope != artilleryScope || s.Kind != sample.DeltaSum {
				continue
			}
			k := skipper{s.Source, p.Start, p.Time}
			if periods[k] == nil {
				periods[k] = &users{}
			}
			switch u := periods[k]; s.Name {
			case "vusers.skipped":
				u.skipped += p.Value
				u.of = s.Service
			case "vusers.created":
				u.created += p.Value
			case "http.requests":
				u.requests += p.Value
			}
		}
		for k, u := range periods {
			if u.skipped <= 0 {
				continue
			}
			each := 1.0
			if u.created > 0 && u.requests > u.created {
				each = u.requests / u.created
			}
			r.AddPoint(&sample.Series{
				Source: k.source, Service: u.of, Scope: artilleryScope, Name: "loadtest.arrivals.dropped", Unit: "{request}", Kind: sample.DeltaSum,
			}, sample.Point{Start: k.start, Time: k.time, Value: math.Round(u.skipped * each)})
		}
	}
}

const artilleryScope = "Artillery.io_metrics"

// skipper is a period of one Artillery.
type skipper struct {
	source      string
	start, time int64
}

type users struct {
	of                         string
	skipped, created, requests float64
}

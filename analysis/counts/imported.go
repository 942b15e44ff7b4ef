package counts

// neutral are the names that a result file is read into when its tool counts
// and measures, and writes no requests. Service time is counted from the send.
// Response time is counted from when a request was due: only a tool that does
// so itself can have it, and it is never corrected again (grade X). A summary is
// about a stretch as a whole, such as a table of percentiles.
func neutral() map[string][]naming {
	return map[string][]naming{
		"loadtest.requests.sent":           {{role: requests}},
		"loadtest.requests.ended":          {{role: ended}},
		"loadtest.requests.failed":         {{role: failed}},
		"loadtest.requests.in_flight_time": {{role: service}},
		"loadtest.requests.service_time":   {{role: durations, unitS: 1}},
		"loadtest.requests.response_time":  {{role: corrected, unitS: 1}},
		"loadtest.arrivals.dropped":        {{role: dropped}},
		"loadtest.workers":                 {{role: limit}},
		"loadtest.summary.service_time":    {{role: summary, unitS: 1}},
		"loadtest.summary.response_time":   {{role: summaryCorrected, unitS: 1}},
	}
}

// tools returns the tables of generators whose result files hold counts.
func tools() []*generator {
	const another = "Vegeta, oha --db-url or k6 -o json write the start of every request"
	all := []*generator{
		{name: "wrk", loop: LoopClosed, starts: another},
		{name: "wrk2", loop: LoopOpen, starts: another},
		{name: "autocannon", starts: another},
		{name: "hey", loop: LoopClosed, starts: "-o csv gives the start of every request"},
		{name: "ab", loop: LoopClosed, starts: another},
		{name: "fortio", starts: "-access-log-file gives the start of every request"},
		{name: "hdrhistogram"},
		{name: "ycsb", starts: "with measurementtype=raw YCSB writes the end of every operation"},
	}
	for _, g := range all {
		g.scopes, g.metrics, g.stream = []string{g.name}, neutral(), "loadtest.scenario"
	}
	return all
}

// Summary is what a tool says of a stretch as a whole. Nothing follows from it
// for a part of the stretch.
type Summary struct {
	From, To int64
	Service  *Buckets // counted from the send; nil when not known
	Response *Buckets // counted from when requests were due, by the tool; nil when not known
}

// within reports whether the summary is about no more than [from, to].
func (s *Summary) within(from, to int64) bool {
	room := (s.To - s.From) / 50
	return s.From >= from-room && s.To <= to+room
}

// summarise takes a distribution over the whole of a stretch. The latest stretch
// counts.
func (r *reader) summarise(in *Input) {
	for _, life := range r.lives {
		for to, p := range life {
			if p.Histogram == nil || p.Start >= to || in.Summary != nil && in.Summary.To > to {
				continue
			}
			if in.Summary == nil || in.Summary.To < to {
				in.Summary = &Summary{}
			}
			in.Summary.From, in.Summary.To = p.Start, to
			b := newBuckets(p.Histogram, p.Value, unitS(r.series.Unit, r.naming.unitS))
			if r.naming.role == summary {
				in.Summary.Service = b
			} else {
				in.Summary.Response = b
			}
		}
	}
}

// one reports an input whose tool says one thing of the whole run, at its end.
func (in *Input) one() bool { return len(in.Intervals) == 1 && in.Summary != nil }

// Times are the times of requests, or of iterations, as a generator counted
// them. The zero value says that none are known.
type Times struct {
	Buckets *Buckets
	// Of is how many requests ended while these were counted; 0 when not known.
	Of float64
}

// ServiceTimes returns the durations of requests, else of iterations, counted
// from the send. They describe what ended, and are not corrected for anything.
func ServiceTimes(in Input) Times {
	if s := in.Summary; s != nil && s.Service != nil {
		return Times{s.Service, in.endedWithin(s)}
	}
	var t Times
	for i := range in.Intervals {
		t.Buckets = sum(t.Buckets, firstOf(in.Intervals[i].Answers, in.Intervals[i].Durations))
	}
	return t
}

// ResponseTimes returns durations that the tool itself counted from when requests
// were due (grade X).
func ResponseTimes(in Input) Times {
	if s := in.Summary; s != nil && s.Response != nil {
		return Times{s.Response, in.endedWithin(s)}
	}
	var t Times
	for i := range in.Intervals {
		if b := in.Intervals[i].Corrected; b != nil {
			t.Buckets = sum(t.Buckets, b)
			t.Of += in.Intervals[i].Ended
		}
	}
	return t
}

// endedWithin is how many requests ended while a summary was made, spread evenly
// over intervals that reach over its edges. Where each iteration sends several
// requests those count, as the summary is about them.
func (in *Input) endedWithin(s *Summary) float64 {
	var iterations, sent float64
	for i := range in.Intervals {
		v := &in.Intervals[i]
		if length := float64(v.To - in.start(i)); length > 0 {
			share := max(0, float64(min(v.To, s.To)-max(in.start(i), s.From))/length)
			iterations += share * v.Ended
			sent += share * v.Requests
		}
	}
	if sent > severalEach*iterations {
		return sent
	}
	return iterations
}

// severalEach tells several requests an iteration from requests that were under
// way when the run ended.
const severalEach = 1.5

// LeftOut is the share of requests that are not among the times: those that
// failed, for many tools.
func (t Times) LeftOut() float64 {
	if t.Of <= 0 {
		return 0
	}
	return max(0, 1-t.Buckets.Count()/t.Of)
}

// MadeUp is how many times stand beside those that were measured, as a share of
// all: a tool that fills in what it did not send adds them.
func (t Times) MadeUp() float64 {
	n := t.Buckets.Count()
	if t.Of <= 0 || n <= 0 {
		return 0
	}
	return max(0, 1-t.Of/n)
}

// Percentiles returns the buckets that hold quantiles, all supported as far as
// the times go.
func (t Times) Percentiles(quantiles ...float64) []Percentile {
	var out []Percentile
	for _, q := range quantiles {
		if bucket, ok := t.Buckets.Quantile(q); ok {
			out = append(out, Percentile{q, bucket, true})
		}
	}
	return out
}

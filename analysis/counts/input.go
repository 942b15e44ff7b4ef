package counts

import (
	"math"
	"slices"
)

// Loop is how a generator decides when to send.
type Loop string

// Loops. Unknown asks the data: a level of workers that never moves is closed.
const (
	LoopUnknown Loop = ""
	LoopOpen    Loop = "open"
	LoopClosed  Loop = "closed"
)

// Interval is what one export adds to the one before it.
type Interval struct {
	To             int64   // end, ns
	Ended          float64 // D_i: iterations or users that ended, whatever their outcome
	Failed         float64 // of those, known to have failed
	Started        float64 // NaN unless the generator counts starts
	Dropped        float64 // d_i
	ServiceS       float64 // S_i; NaN when durations are not known
	Requests       float64 // requests sent; one iteration may send several
	FailedRequests float64
	FailedChecks   float64
	InFlight       float64 // at To; NaN when not known
	Limit          float64 // workers that exist at To; NaN when not known
	Durations      *Buckets
	Answers        *Buckets // durations of requests; nil when not known
	Corrected      *Buckets // times that the tool counted from when requests were due; nil when not known
}

// Rate is the offered rate that was declared.
type Rate struct {
	PerS  float64 // 0 when nothing was declared
	Paced bool    // at equal gaps, so that arrivals are known exactly
}

// Input is what one stream of one source exported, in order of time.
type Input struct {
	Generator string
	Source    string
	Stream    string // scenario; "" stands for all
	From      int64  // start of the first interval, ns
	Intervals []Interval
	Loop      Loop // as the generator works, or as it was declared
	Rate      Rate
	// UnloadedS is W0, the mean duration at the lightest level of a sweep; 0
	// lets the smallest mean of an interval stand in.
	UnloadedS float64
	// Overflow says that attributes were folded together by a limit of series.
	Overflow bool
	// Summary is what the tool says of a stretch as a whole; nil when nothing.
	Summary *Summary

	// Finished says that the last export is the last of the run: it lacks nothing.
	Finished bool

	uneven    bool // intervals were joined as counts alternated
	fromStart bool // From is when the load began
}

// whole reports whether the input holds a run from its start to its end, so that
// its totals over its time are rates whatever single exports lack.
func (in *Input) whole() bool { return in.fromStart && in.Finished }

// Totals are sums over intervals.
type Totals struct {
	Ended, Failed, Dropped, Requests, FailedRequests, FailedChecks float64
}

// Totals adds up all intervals. Cumulative counts give the generator's own
// totals, exactly.
func (in Input) Totals() Totals {
	var t Totals
	for i := range in.Intervals {
		v := &in.Intervals[i]
		t.Ended += v.Ended
		t.Failed += v.Failed
		t.Dropped += v.Dropped
		t.Requests += v.Requests
		t.FailedRequests += v.FailedRequests
		t.FailedChecks += v.FailedChecks
	}
	return t
}

// PerIteration is how many requests an iteration sent on average, further
// attempts included; 0 when either is not counted.
func (t Totals) PerIteration() float64 {
	if t.Ended <= 0 {
		return 0
	}
	return t.Requests / t.Ended
}

// FailedIterations bounds how many of what ended failed. A generator that counts
// failed requests alone does not say whose they were: an iteration that sent
// several may have failed by any of them, or been retried to success. At least
// those failed that had no good request to end with.
func (t Totals) FailedIterations() (least, most float64) {
	if t.Failed > 0 || t.FailedRequests <= 0 {
		return t.Failed, t.Failed
	}
	most = min(t.Ended, t.FailedRequests)
	if t.Requests <= 0 {
		return 0, most
	}
	return min(max(0, t.Ended-(t.Requests-t.FailedRequests)), most), most
}

// failedShare is the share of requests that failed, else of what ended.
func (in *Input) failedShare() float64 {
	t := in.Totals()
	switch {
	case t.Requests > 0 && t.FailedRequests > 0:
		return t.FailedRequests / t.Requests
	case t.Ended > 0:
		return t.Failed / t.Ended
	}
	return 0
}

// start returns when interval i begins.
func (in *Input) start(i int) int64 {
	if i == 0 {
		return in.From
	}
	return in.Intervals[i-1].To
}

// seconds returns how long interval i is.
func (in *Input) seconds(i int) float64 {
	return float64(in.Intervals[i].To-in.start(i)) / 1e9
}

// slack is the share of an interval by which it may reach over the end of a
// step and still belong to it: exports do not know of steps.
const slack = 0.15

// Between returns the intervals that lie within [from, to].
func (in Input) Between(from, to int64) Input {
	if in.Summary != nil && !in.Summary.within(from, to) {
		in.Summary = nil
	}
	first, last := -1, -1
	for i := range in.Intervals {
		s, e := in.start(i), in.Intervals[i].To
		room := int64(slack * float64(e-s))
		if s < from-room || e > to+room {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if first < 0 {
		in.From, in.Intervals = from, nil
		return in
	}
	start := in.start(first)
	in.fromStart = in.fromStart && first == 0
	in.Finished = in.Finished && last == len(in.Intervals)-1
	in.Intervals = in.Intervals[first : last+1]
	in.From = start
	return in
}

// drained is the share of the usual arrivals below which an interval at the end
// belongs to the drain.
const drained = 0.25

// WithoutDrain leaves out the intervals at the end in which hardly anything
// arrived: what was in flight when the load ended. It is for runs whose
// schedule is not known.
func (in Input) WithoutDrain() Input {
	rates := make([]float64, len(in.Intervals))
	for i := range in.Intervals {
		v := &in.Intervals[i]
		n := v.Ended + v.Dropped
		if i > 0 {
			if d := v.InFlight - in.Intervals[i-1].InFlight; !math.IsNaN(d) {
				n += d
			}
		}
		if s := in.seconds(i); s > 0 {
			rates[i] = n / s
		}
	}
	if len(rates) == 0 {
		return in
	}
	sorted := slices.Sorted(slices.Values(rates))
	usual := sorted[len(sorted)/2]
	end := len(rates)
	for end > 1 && rates[end-1] < drained*usual {
		end--
	}
	in.Finished = in.Finished && end == len(in.Intervals)
	in.Intervals = in.Intervals[:end]
	return in
}

// merged joins every n neighbouring intervals; what is left over joins the last.
func (in Input) merged(n int) Input {
	var out []Interval
	for i := range in.Intervals {
		if len(out) > 0 && (i%n != 0 || len(in.Intervals)-i < n) {
			out[len(out)-1] = join(out[len(out)-1], in.Intervals[i])
			continue
		}
		out = append(out, in.Intervals[i])
	}
	in.Intervals = out
	return in
}

// join adds the interval that follows.
func join(a, b Interval) Interval {
	b.Ended += a.Ended
	b.Failed += a.Failed
	b.Started += a.Started
	b.Dropped += a.Dropped
	b.ServiceS += a.ServiceS
	b.Requests += a.Requests
	b.FailedRequests += a.FailedRequests
	b.FailedChecks += a.FailedChecks
	b.Durations = sum(a.Durations, b.Durations)
	b.Answers = sum(a.Answers, b.Answers)
	b.Corrected = sum(a.Corrected, b.Corrected)
	return b
}

package counts

import "math"

// Window is a stretch over which rates are computed.
type Window struct {
	From, To int64
	Offered  float64 // per second: ended + dropped + change in flight
	Ended    float64 // per second
	Failed   float64 // per second
	Dropped  float64 // per second
	InFlight float64 // mean by Little's law; NaN when durations are not known
}

const (
	leastRateS     = 10
	rateIntervals  = 3
	nanosPerSecond = 1e9
)

// Rates cuts the input into stretches of at least max(10 s, three export
// intervals): shorter ones show the beat of exports and flushes. An input that
// is shorter has no rates.
func Rates(in Input) []Window {
	if len(in.Intervals) == 0 {
		return nil
	}
	end := in.Intervals[len(in.Intervals)-1].To
	usual := float64(end-in.From) / float64(len(in.Intervals))
	least := int64(max(leastRateS*nanosPerSecond, rateIntervals*usual*0.999))
	var out []Window
	first := 0
	for i := range in.Intervals {
		whole := in.Intervals[i].To-in.start(first) >= least
		room := end-in.Intervals[i].To >= least || i == len(in.Intervals)-1
		if whole && room {
			out = append(out, in.rates(first, i))
			first = i + 1
		}
	}
	return out
}

// rates computes one window over intervals first to last.
func (in *Input) rates(first, last int) Window {
	w := Window{From: in.start(first), To: in.Intervals[last].To}
	s := float64(w.To-w.From) / nanosPerSecond
	for i := first; i <= last; i++ {
		v := &in.Intervals[i]
		w.Ended += v.Ended / s
		w.Failed += v.Failed / s
		w.Dropped += v.Dropped / s
		w.InFlight += v.ServiceS / s
	}
	w.Offered = w.Ended + w.Dropped
	before := 0.0 // nothing was in flight before the first interval of a run
	if first > 0 {
		before = in.Intervals[first-1].InFlight
	}
	if d := in.Intervals[last].InFlight - before; !math.IsNaN(d) {
		w.Offered += d / s
	}
	return w
}

// Percentile is the bucket that holds a quantile of what ended.
type Percentile struct {
	Quantile  float64
	Bucket    Bucket
	Supported bool // false above 1 − the share that was dropped: the data do not reach there
}

// Percentiles returns the buckets that hold quantiles of the durations of
// requests, else of iterations. They describe what ended, and are not corrected
// for what was dropped.
func Percentiles(in Input, quantiles ...float64) []Percentile {
	t := in.Totals()
	share := 1.0
	if t.Ended+t.Dropped > 0 {
		share = t.Ended / (t.Ended + t.Dropped)
	}
	out := ServiceTimes(in).Percentiles(quantiles...)
	for i := range out {
		out[i].Supported = out[i].Quantile <= share
	}
	return out
}

package counts

import "math"

// Combine adds up the inputs of several sources of one run, such as the hosts
// of a distributed test, over the export intervals of the slowest of them.
// Counts of the others are spread evenly over their own intervals, so that the
// totals stay exact; levels are the newest at each end. The declared rate and W0
// are those of the first.
func Combine(inputs []Input) Input {
	inputs = withIntervals(inputs)
	switch len(inputs) {
	case 0:
		return Input{}
	case 1:
		return inputs[0]
	}
	out := inputs[0]
	slowest, from, to := 0, inputs[0].From, int64(math.MinInt64)
	longest := -1.0
	for i := range inputs {
		in := &inputs[i]
		end := in.Intervals[len(in.Intervals)-1].To
		if e := float64(end-in.From) / float64(len(in.Intervals)); e > longest {
			slowest, longest = i, e
		}
		from, to = min(from, in.From), max(to, end)
		out.Overflow = out.Overflow || in.Overflow
		if in.Source != out.Source {
			out.Source = ""
		}
		if in.Loop != out.Loop {
			out.Loop = LoopUnknown
		}
	}
	out.From, out.Intervals, out.Summary = from, nil, nil
	out.fromStart = false // they need not begin together
	for i := range inputs[slowest].Intervals {
		out.Intervals = append(out.Intervals, Interval{To: inputs[slowest].Intervals[i].To})
	}
	out.Intervals[len(out.Intervals)-1].To = to
	for i := range inputs {
		inputs[i].addTo(&out)
	}
	return out
}

func withIntervals(inputs []Input) []Input {
	var out []Input
	for _, in := range inputs {
		if len(in.Intervals) > 0 {
			out = append(out, in)
		}
	}
	return out
}

// addTo spreads the counts of an input over the intervals of another.
func (in *Input) addTo(out *Input) {
	for i := range in.Intervals {
		v := &in.Intervals[i]
		from, length := in.start(i), float64(v.To-in.start(i))
		for j := range out.Intervals {
			o := &out.Intervals[j]
			share := float64(min(v.To, o.To)-max(from, out.start(j))) / length
			if share <= 0 {
				continue
			}
			o.Ended += share * v.Ended
			o.Failed += share * v.Failed
			o.Started += share * v.Started
			o.Dropped += share * v.Dropped
			o.ServiceS += share * v.ServiceS
			o.Requests += share * v.Requests
			o.FailedRequests += share * v.FailedRequests
			o.FailedChecks += share * v.FailedChecks
			if v.To > out.start(j) && v.To <= o.To {
				o.Durations, o.Answers = sum(o.Durations, v.Durations), sum(o.Answers, v.Answers)
				o.Corrected = sum(o.Corrected, v.Corrected)
			}
		}
	}
	for j := range out.Intervals {
		n, l := in.newest(out.Intervals[j].To)
		out.Intervals[j].InFlight += n
		out.Intervals[j].Limit += l
	}
}

// newest returns the levels at the last end not after t: none before the first,
// and none after the source has ended.
func (in *Input) newest(t int64) (inFlight, limit float64) {
	last := len(in.Intervals) - 1
	usual := (in.Intervals[last].To - in.From) / int64(len(in.Intervals))
	if t > in.Intervals[last].To+usual {
		return 0, 0
	}
	for i := last; i >= 0; i-- {
		if in.Intervals[i].To <= t {
			return in.Intervals[i].InFlight, in.Intervals[i].Limit
		}
	}
	return 0, 0
}

package truth

import (
	"fmt"
	"math"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Mark says how a line of a verdict compares with the truth.
type Mark int

// Marks of a line.
const (
	Right Mark = iota
	Open       // the verdict does not say
	Odd        // not wrong, and yet not what one would expect
	Wrong
)

// String is how a mark is printed.
func (m Mark) String() string { return [...]string{"right", "open", "odd", "WRONG"}[m] }

// Line compares one thing.
type Line struct {
	What, Truth, Verdict string
	Mark                 Mark
}

// Worst is the worst mark of some lines.
func Worst(lines []Line) Mark {
	worst := Right
	for _, l := range lines {
		worst = max(worst, l.Mark)
	}
	return worst
}

// checker holds one verdict against one case.
type checker struct {
	c     *Case
	v     *wire.Verdict
	lines []Line
}

// Check compares a verdict with the truth.
func Check(c *Case, v *wire.Verdict) []Line {
	k := &checker{c: c, v: v}
	if c.Telemetry == Lost {
		k.lost()
		return k.lines
	}
	k.totals()
	k.plan()
	k.little()
	for i := range v.Steps {
		k.numbers(&v.Steps[i])
		k.class(&v.Steps[i])
	}
	k.knee()
	k.recovery()
	k.alarms()
	k.generator()
	k.stop()
	k.outcome()
	return k.lines
}

func (k *checker) line(mark Mark, what, truth, verdict string) {
	k.lines = append(k.lines, Line{what, truth, verdict, mark})
}

// same asks for the same number.
func (k *checker) same(what string, truth float64, verdict *float64, tolerance float64) {
	switch {
	case verdict == nil:
		k.line(Open, what, number(truth), "-")
	case math.Abs(*verdict-truth) <= tolerance*math.Abs(truth)+1e-9:
		k.line(Right, what, number(truth), number(*verdict))
	default:
		k.line(Wrong, what, number(truth), number(*verdict))
	}
}

func (k *checker) count(what string, truth, verdict int64) {
	mark := Right
	if truth != verdict {
		mark = Wrong
	}
	k.line(mark, what, whole(truth), whole(verdict))
}

func floating(n int64) *float64 {
	v := float64(n)
	return &v
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func number(v float64) string { return fmt.Sprintf("%.5g", v) }

func show(p *float64) string {
	if p == nil {
		return "-"
	}
	return number(*p)
}

// totals compares the books of the whole run.
func (k *checker) totals() {
	var outcomes [sample.Outcomes]int64
	var dropped, attempts int64
	for i := range k.c.Requests {
		if q := &k.c.Requests[i]; q.Dropped {
			dropped++
		} else {
			outcomes[q.Outcome]++
			attempts += int64(q.Attempts)
		}
	}
	t := &k.v.Totals
	k.count("due", int64(len(k.c.Requests)), t.Due)
	k.count("dropped", dropped, t.Dropped)
	k.count("answered", outcomes[sample.OK], t.Counts.OK)
	k.count("timed out", outcomes[sample.Timeout], t.Counts.Timeout)
	k.count("shed", outcomes[sample.Shed], t.Counts.Shed)
	if t.AttemptsPerReq != nil {
		k.same("attempts per request", float64(attempts)/float64(int64(len(k.c.Requests))-dropped), t.AttemptsPerReq, 1e-9)
	}
	for _, s := range append(k.v.Steps[:len(k.v.Steps):len(k.v.Steps)], *t) {
		b := s.Balance
		if out := b.Dropped + b.Good + b.Late + b.Error + b.Timeout + b.Shed + b.Cancelled + b.OpenAtEnd; out != b.Due+b.CarriedIn {
			k.line(Wrong, fmt.Sprintf("balance of step %d", s.Index), whole(b.Due+b.CarriedIn), whole(out))
		}
	}
}

// lost asks that nothing good is said of a run of which telemetry is missing.
func (k *checker) lost() {
	mark := Right
	if k.v.Outcome == wire.OutcomePass {
		mark = Wrong
	}
	k.line(mark, "outcome", fmt.Sprintf("%d of %d rows came", len(k.c.Rows), len(k.c.Requests)), k.v.Outcome)
}

// little asks that counts which are right do not accuse the rows.
func (k *checker) little() {
	for i := range k.v.Steps {
		l := &k.v.Steps[i].LittlesLaw
		if l.OK != nil && !*l.OK {
			k.line(Wrong, fmt.Sprintf("step %d Little's law", k.v.Steps[i].Index), "holds", l.Note)
		}
		if l.Independent && k.c.Telemetry != Counted {
			k.line(Wrong, fmt.Sprintf("step %d Little's law", k.v.Steps[i].Index), "nothing independent", l.Source)
		}
	}
}

// plan compares the steps of the run with those that were offered.
func (k *checker) plan() {
	truth, verdict := fmt.Sprintf("%d steps", len(k.c.Legs)), fmt.Sprintf("%d steps", len(k.v.Steps))
	switch {
	case len(k.c.Legs) == len(k.v.Steps):
		k.line(Right, "plan", truth, verdict)
	case k.c.Declaration != nil:
		k.line(Wrong, "plan", truth, verdict)
	case !k.c.closed() && k.c.Plan != Ramp:
		k.line(Odd, "plan", truth, verdict)
	}
}

// numbers compares what is counted and measured in a step, whatever its edges.
func (k *checker) numbers(s *wire.Step) {
	name := func(what string) string { return fmt.Sprintf("step %d %s", s.Index, what) }
	from, to := s.From.UnixNano(), s.To.UnixNano()
	all := k.c.window(from, to)
	warm := k.c.window(from+int64(s.WarmupS*1e9), to)
	if all.due == 0 {
		return
	}
	if k.c.Client == WorkersDrop { // counted by the second
		k.same(name("due"), float64(all.due), floating(s.Due), 1.5/all.seconds)
	} else {
		k.count(name("due"), all.due, s.Due)
	}
	k.same(name("completed/s"), float64(warm.ok)/warm.seconds, s.Completed, 1e-9)
	k.same(name("in flight"), all.area/all.seconds, s.InFlight.Mean, 1e-6)
	r := &s.ResponseTime
	if all.dropped*100 > all.due {
		if r.Valid || r.P99.Value != nil {
			k.line(Wrong, name("percentiles"), fmt.Sprintf("%d dropped", all.dropped), show(r.P99.Value))
		}
		return
	}
	if k.c.closed() || !r.Valid || all.dropped > 0 || s.Dropped > 0 {
		return
	}
	for _, q := range []struct {
		name string
		at   float64
		e    *wire.Estimate
	}{{"p50", 0.5, &r.P50}, {"p90", 0.9, &r.P90}, {"p99", 0.99, &r.P99}} {
		switch want := warm.quantile(q.at); {
		case want > 0 && q.e.Value == nil && q.e.Lo == nil:
			k.line(Open, name(q.name), number(want), "-")
		case want > 0:
			k.same(name(q.name), want, q.e.Value, 1.1e-3)
		case q.e.Value != nil:
			k.line(Wrong, name(q.name), "not seen to end", show(q.e.Value))
		}
	}
}

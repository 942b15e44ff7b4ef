package alert

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// mostRuns bounds the runs that have metrics of their own: the newest ones.
const mostRuns = 100

// code is a verdict as a number.
func code(outcome string) int {
	return slices.Index([]string{wire.OutcomePass, wire.OutcomeInconclusive, wire.OutcomeInvalid, wire.OutcomeFail}, outcome)
}

// WriteMetrics writes the metrics of the runs that go on, or ended less than Hold
// ago, in the Prometheus text format. Labels are the names of runs, so series go
// on from run to run; of several runs of one name the newest is shown.
func (w *Watcher) WriteMetrics(to io.Writer) {
	all := w.Statuses()
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(b.Now.Newest, a.Now.Newest), cmp.Compare(a.Run.ID, b.Run.ID))
	})
	shown := map[string]bool{}
	for i := range all {
		s := &all[i]
		if shown[s.Run.Name] || len(shown) == mostRuns {
			continue
		}
		shown[s.Run.Name] = true
		s.write(to)
	}
}

func (s *Status) write(to io.Writer) {
	run := "{run_name=" + quote(s.Run.Name)
	gauge := func(name string, v float64, labels ...string) {
		fmt.Fprintf(to, "plimsoll_run_%s%s", name, run)
		for i := 0; i+1 < len(labels); i += 2 {
			fmt.Fprintf(to, ",%s=%s", labels[i], quote(labels[i+1]))
		}
		fmt.Fprintf(to, "} %s\n", strconv.FormatFloat(v, 'g', -1, 64))
	}
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	n := &s.Now
	gauge("live", is(!s.Ended))
	gauge("newest_timestamp_seconds", float64(n.Newest)/1e9)
	for o := range sample.Outcomes {
		gauge("requests_total", float64(n.Outcomes[o]), "outcome", o.String())
	}
	if n.Judged > 0 {
		gauge("good_requests_total", float64(n.Good))
	}
	gauge("dropped_arrivals_total", float64(n.Dropped))
	if n.Watched {
		gauge("in_flight", float64(n.InFlight))
		gauge("suspect", is(!s.Ended && n.State == live.Suspected))
	}
	s.writeVerdict(gauge, is)
}

// quote writes a label's value.
func quote(s string) string {
	out := []byte{'"'}
	for _, c := range []byte(s) {
		switch c {
		case '\\', '"':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// writeVerdict writes what looks and verdicts have concluded. A condition that
// has numbers carries them beside it, so that a rule can put them into words.
func (s *Status) writeVerdict(gauge func(name string, v float64, labels ...string), is func(bool) float64) {
	step, offered, capacity := "", 0.0, 0.0
	unstable := s.Unstable()
	if unstable {
		for _, a := range Seen(s.Run, &s.Now) {
			step = a.Step
		}
		for _, e := range s.Now.Events {
			if e.Kind == live.Raise {
				offered, capacity = e.Offered, e.Capacity
			}
		}
	}
	v := s.Verdict
	if v != nil && s.Ended {
		for _, a := range Judged(s.Run, v) {
			unstable = unstable || a.Labels.Name == Unstable
			if a.Labels.Name == Unstable {
				step = a.Step
			}
		}
		if i := slices.IndexFunc(v.Steps, func(t wire.Step) bool { return t.Class == wire.ClassUnstable }); i >= 0 {
			offered, capacity = value(v.Steps[i].Offered), value(v.Steps[i].Completed)
		}
	}
	gauge("unstable", is(unstable), "step", step)
	if unstable {
		gauge("unstable_offered_per_second", offered)
		gauge("unstable_completed_per_second", capacity)
	}
	if v == nil {
		return
	}
	gauge("outcome", float64(code(v.Outcome)))
	gauge("generator_invalid", is(!v.Audit.Valid))
	gauge("not_recovered", is(v.Metastability.State == "sustained" || v.Metastability.State == "degraded"))
	for _, h := range v.Objectives {
		gauge("objective_missed", is(h.State == wire.Missed), "objective", h.Title, "kind", h.Kind, "scenario", h.Scenario, "step", h.Step)
	}
	if c := v.Knee.Capacity; c != nil && c.Value != nil {
		gauge("capacity_per_second", *c.Value)
	}
	t := &v.Totals
	if t.DroppedRatio > 0 || v.Run.State == wire.Finished {
		gauge("dropped_ratio", t.DroppedRatio)
	}
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

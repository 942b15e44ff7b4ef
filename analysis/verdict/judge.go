package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// Analysis answers every question about a run. The zero value is ready.
type Analysis struct {
	// Fold makes the state of a run; nil means fold.Build. One that remembers
	// states answers many questions with one reading.
	Fold func(ctx context.Context, ev fold.Evidence, opt query.Options) (*fold.State, error)
}

// Judge folds the evidence and returns the verdict document.
func (a Analysis) Judge(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.Verdict, error) {
	st, err := a.state(ctx, ev, opt)
	if err != nil {
		return nil, err
	}
	j := newJudge(st, objectives(st, opt))
	for i := range j.goals {
		g := &j.goals[i]
		if g.Scenario == "" || g.Scenario == opt.Scenario {
			continue
		}
		g.alone = len(st.Steps) == 1
		narrow := opt
		narrow.Scenario = g.Scenario
		if g.state, err = a.state(ctx, ev, narrow); err == nil {
			continue
		}
		unknown, ok := errors.AsType[*query.UnknownError](err)
		if !ok {
			return nil, err
		}
		g.absent = true
		g.settle(false, fmt.Sprintf("The objective %q is about the scenario %q, which this run does not have: %s.", g.title(), g.Scenario, unknown.Hint()))
	}
	return j.document(), nil
}

// state folds the evidence, or finds it folded already. It refuses a question
// about a part that the run does not have.
func (a Analysis) state(ctx context.Context, ev fold.Evidence, opt query.Options) (*fold.State, error) {
	st, err := a.folded(ctx, ev, opt)
	if err != nil {
		return nil, err
	}
	return st, a.known(ctx, ev, st, opt)
}

func (a Analysis) folded(ctx context.Context, ev fold.Evidence, opt query.Options) (*fold.State, error) {
	if a.Fold != nil {
		return a.Fold(ctx, ev, opt)
	}
	return fold.Build(ctx, ev, opt)
}

// Document judges a state without further reading; objectives of single
// scenarios are judged on the state as it is.
func Document(st *fold.State, goals []wire.Objective) *wire.Verdict {
	return newJudge(st, goals).document()
}

// objectives of the question replace those of the declaration.
func objectives(st *fold.State, opt query.Options) []wire.Objective {
	if opt.Objectives != nil || st.Run.Declaration == nil {
		return opt.Objectives
	}
	return st.Run.Declaration.Objectives
}

// judge carries one judgement.
type judge struct {
	st    *fold.State
	goals []goal
	doc   *wire.Verdict
	steps []*judged
	total *judged
	swept knee.Result
	seen  measured

	thinned bool // the generator counted many more requests than came as spans
}

// judged is a step with what was found out about it.
type judged struct {
	*fold.Step
	wire     *wire.Step
	findings []wire.Finding
	invalid  string // why nothing good can be said of the step; empty if it can
	missed   bool   // an objective is missed on it
	lossy    bool   // losses among the requests that were sent
	shed     bool   // most of the losses were rejections
	result   stability.Result
	growing  bool // the backlog grows
	broke    bool // it did so at the end, and not before: what was completed is no capacity
	endOnly  bool // it is undecided as a whole
	doubted  bool // stable as a whole, and doubtful at its end
}

func newJudge(st *fold.State, goals []wire.Objective) *judge {
	j := &judge{st: st, seen: measure(st)}
	j.thin()
	for _, o := range goals {
		j.goals = append(j.goals, goal{Objective: o})
	}
	return j
}

func (j *judge) document() *wire.Verdict {
	st := j.st
	j.doc = &wire.Verdict{
		Schema: wire.Schema, Revision: st.Run.Revision, Run: j.describe(), Horizon: horizon(st),
		Steps: []wire.Step{}, Findings: []wire.Finding{},
		Knee:          wire.Knee{State: wire.NotTested},
		Metastability: wire.Metastability{State: wire.NotTested, Signals: []wire.Signal{}},
		Audit:         wire.Audit{Valid: true, Loop: j.loop(), ArrivalProcess: j.process(), Findings: []wire.Finding{}},
	}
	for _, s := range st.Steps {
		j.steps = append(j.steps, j.judge(s))
	}
	j.total = j.judge(st.Totals)
	j.total.findings = nil
	if st.MultiRate {
		j.total.wire.Warnings = append(j.total.wire.Warnings, "mixed_rates")
	}
	for _, s := range j.steps {
		j.rig(s)
	}
	j.going()
	j.hold()
	for _, s := range append(j.steps[:len(j.steps):len(j.steps)], j.total) {
		j.classify(s)
	}
	j.drains()
	j.promote()
	j.classify(j.total)
	j.carries()
	for _, s := range j.steps {
		j.explain(s)
		j.watch(s)
	}
	j.felt()
	j.alarms()
	j.capacity()
	j.swept = j.sweep()
	j.climb()
	j.servers()
	j.recovery()
	j.audit()
	j.iterations()
	for _, s := range j.steps {
		j.doc.Steps = append(j.doc.Steps, *s.wire)
		j.doc.Findings = append(j.doc.Findings, s.findings...)
	}
	j.doc.Totals = *j.total.wire
	j.outcome()
	slices.SortStableFunc(j.doc.Findings, func(a, b wire.Finding) int { return rank(b.Severity) - rank(a.Severity) })
	return j.doc
}

func rank(severity string) int {
	return slices.Index([]string{wire.Info, wire.Warn, wire.Fail, wire.Invalid}, severity)
}

func (j *judge) describe() wire.Run {
	st := j.st
	r := wire.Run{
		ID: st.Run.ID, Name: st.Run.Name, Generator: st.Generator, Scenarios: st.Scenarios, State: wire.Live,
		DeadlineS: st.DeadlineS, FirstByteDeadlineS: st.FirstByteDeadlineS, OfferedSource: st.OfferedSource, Queues: j.queueNames(),
	}
	if r.Scenarios == nil {
		r.Scenarios = []string{}
	}
	if st.Run.Finished {
		r.State = wire.Finished
	}
	if st.Rows > 0 {
		r.StartedAt, r.EndedAt = clock(st.Span.From), clock(st.Span.To)
		g := st.Grade.String()
		r.Grade = &g
	}
	return r
}

func horizon(st *fold.State) wire.Horizon {
	h := wire.Horizon{Assumed: st.Horizon.Assumed}
	if st.Horizon.At != 0 {
		h.At = clock(st.Horizon.At)
	}
	if st.Horizon.HeldBy != "" {
		h.HeldBy = &st.Horizon.HeldBy
	}
	return h
}

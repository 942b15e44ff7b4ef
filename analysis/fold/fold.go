package fold

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Build folds the evidence of a run into its state, as narrowed by the options.
// Its series are kept within SeriesBytes. Nobody changes a state once it is
// built: any number may read it at once.
func Build(ctx context.Context, ev Evidence, opt query.Options) (*State, error) {
	return Within(ctx, ev, opt, SeriesBytes)
}

// SeriesBytes is the byte budget of the series of one run.
const SeriesBytes = 24 << 20

// Within is Build with another budget for the series.
func Within(ctx context.Context, ev Evidence, opt query.Options, budget int) (*State, error) {
	f := newFolder(ev, opt)
	f.series = newSeries(budget)
	return build(ctx, f)
}

func build(ctx context.Context, f *folder) (*State, error) {
	err := f.scan(ctx)
	for errors.Is(err, errBlank) {
		f = f.again()
		err = f.scan(ctx)
	}
	if err == nil {
		err = f.refuse()
	}
	if err != nil {
		return nil, fmt.Errorf("scan rows of %q: %w", f.run.ID, err)
	}
	f.follow()
	if err := f.hold(ctx); err != nil {
		return nil, fmt.Errorf("join attempts of %q: %w", f.run.ID, err)
	}
	held := int64(len(f.join.attempts))
	joined := f.joined()
	requests := f.rows - held + int64(len(joined))
	if err := f.count(ctx); err != nil {
		return nil, fmt.Errorf("read counts of %q: %w", f.run.ID, err)
	}
	f.state = f.describe()
	f.state.Requests = requests
	f.firstBytes()
	if err := f.telemetry(ctx); err != nil {
		return nil, fmt.Errorf("read telemetry of %q: %w", f.run.ID, err)
	}
	if f.counted != nil {
		f.countedState()
		return f.state, nil
	}
	if err := f.detect(ctx, joined, requests); err != nil {
		return nil, fmt.Errorf("find steps of %q: %w", f.run.ID, err)
	}
	for {
		if err := f.sweep(ctx, joined, requests); err != nil {
			return nil, fmt.Errorf("sweep rows of %q: %w", f.run.ID, err)
		}
		if !f.backlogs() {
			return f.state, nil
		}
		f.series = newSeries(f.series.budget)
	}
}

// hold keeps the attempts of requests that have several. When the last request was
// due is found anew: scan knew attempts alone, and the last of them may be a late one.
func (f *folder) hold(ctx context.Context) error {
	if len(f.join.multi) == 0 {
		return nil
	}
	f.lastDue = math.MinInt64
	return f.each(ctx, func(g *group, r *sample.Row) {
		if f.join.several(r) {
			f.join.hold(g, r)
			return
		}
		due, _, _ := f.due(g, r)
		f.lastDue = max(f.lastDue, due)
	})
}

// describe fills in what the passes so far have found.
func (f *folder) describe() *State {
	s := &State{
		Run: f.run, Grade: f.weakest, Nameless: f.blank.scenarios, Rows: f.rows, EarlyIntended: f.early, SampledRows: f.sampled,
		Narrowed: f.part() || f.opt.From != nil || f.opt.To != nil,
		Ranks:    f.placed,
		Notes:    f.notes,
		AtOnce:   f.rows > 0 && f.lastDue-f.first < instant,
		Keyed:    f.join.keyed || f.join.resends, Horizon: f.horizon(),
	}
	s.Scenarios, s.Sources, s.Generator, _ = f.names()
	s.Model, s.Process = f.driver()
	if f.rows > 0 {
		s.Span = sample.Span{From: f.first, To: f.last}
	}
	s.DeadlineS, s.HasDeadline = f.deadline(), f.deadlineSeen
	s.FirstByteDeadlineS = f.firstDeadline()
	s.DroppedCounted, s.PerIteration = f.meter.reading(droppedName) != nil, f.perEach
	if r := f.meter.reading(scheduledName); r != nil && !f.part() {
		n := r.count(r.times[0]-1, r.times[len(r.times)-1])
		s.Scheduled = &n
	}
	return s
}

// driver says how arrivals are decided on, and by which process: as declared,
// else as the rows say.
func (f *folder) driver() (model sample.Model, process string) {
	_, _, _, process = f.names()
	if model = f.model; f.mixedModel {
		model = sample.UnknownModel
	}
	d := f.run.Declaration
	if d == nil || d.Arrival == nil {
		return model, process
	}
	if d.Arrival.Process != "" {
		process = d.Arrival.Process
	}
	switch d.Arrival.Model {
	case "open":
		model = sample.Open
	case "closed":
		model = sample.Closed
	}
	return model, process
}

// deadline is the one deadline of all rows, in seconds; nil when there is none
// or more than one.
func (f *folder) deadline() *float64 { return f.one(func(g *group) int64 { return g.deadline }) }

// firstDeadline is the one deadline of the first bytes of all rows.
func (f *folder) firstDeadline() *float64 {
	return f.one(func(g *group) int64 { return g.firstDeadline })
}

func (f *folder) one(of func(g *group) int64) *float64 {
	var one int64
	for _, g := range f.groups {
		switch v := of(g); {
		case g.left || g.src.rows == 0:
		case v == 0, one != 0 && one != v:
			return nil
		default:
			one = v
		}
	}
	if one == 0 {
		return nil
	}
	s := float64(one) / 1e9
	return &s
}

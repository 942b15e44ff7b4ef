package fold

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/steps"
)

// folder carries one fold through its passes.
type folder struct {
	ev    Evidence
	run   Run
	opt   query.Options
	order []int // entries in the order of the time they cover

	groups  map[sample.Group]*group
	sources map[string]*source
	streams map[streamKey]*stream
	meter   meter
	points  points // of the generator and of servers
	blank   blank
	many    bool // too many names were seen

	ranks  *ranks // numbers of rows that carry none; nil when none can be known
	placed *Ranks // how far they could be; nil where nothing was asked for

	notes      []string // of imports, ascending
	iterations map[sample.Series]*iterations
	follows    bool    // iterations follow one another: no start was due
	perEach    float64 // requests of an iteration on average; 0 when not known

	declared *Schedule
	divided  divided
	start    int64 // start of the declared schedule
	join     joiner

	extent
	series       *Series
	state        *State
	judgedFrom   map[int]int64
	deadlineSeen bool
	counted      *counts.Input // what a run without rows counted; nil when nothing
	// streams and sources of a run without rows
	countedStreams, countedSources []string
	found                          []steps.Segment // steps found in an undeclared run; nil when there is but one
}

// extent is what must be known of all rows before steps can be laid out.
type extent struct {
	first, last int64 // first due and last end
	lastDue     int64
	longest     int64 // longest time from due to end
	lag         int64 // longest time from due to the start of the row's batch
	rows        int64
	early       int64
	resent      int64 // rows that their client counts as attempts after the first
	sampled     int64
	unclocked   int64 // answers whose first byte may or may not have come in time
	weakest     Grade
	model       sample.Model
	mixedModel  bool
	steps       map[string]*named
}

func newExtent() extent {
	return extent{
		first: math.MaxInt64, last: math.MinInt64, lastDue: math.MinInt64, weakest: noGrade,
		steps: map[string]*named{},
	}
}

// group is a stream of rows with what the declaration and the question add.
type group struct {
	sample.Group
	src      *source
	stream   *stream
	deadline int64
	interval int64

	firstDeadline int64 // of the first byte
	left          bool  // filtered out by the question
}

// source is one generator process.
type source struct {
	name   string
	newest int64 // latest end
	rows   int64
}

// streamKey tells streams apart: arrivals of another rate count another schedule.
type streamKey struct {
	source, scenario string
	rate             float64
}

// stream is a set of rows that count one schedule.
type stream struct {
	schedule *Schedule
	declared bool  // it is the declared one, or a part of it
	origin   int64 // when index 0 was due; MaxInt64 when no row has an index
	numbers  numbers
}

// named is a load step known only by the name on its rows.
type named struct{ first, last int64 }

func newFolder(ev Evidence, opt query.Options) *folder {
	f := &folder{
		ev: ev, run: ev.Run(), opt: opt,
		groups: map[sample.Group]*group{}, sources: map[string]*source{},
		streams: map[streamKey]*stream{}, extent: newExtent(), judgedFrom: map[int]int64{},
	}
	entries := ev.Entries()
	f.order = make([]int, len(entries))
	for i := range f.order {
		f.order[i] = i
	}
	slices.SortFunc(f.order, func(a, b int) int {
		x, y := entries[a], entries[b]
		return cmp3(x.Span.From, y.Span.From, x.Span.To, y.Span.To, int64(x.Rows), int64(y.Rows))
	})
	if d := f.run.Declaration; d != nil {
		f.declared = DeclaredSchedule(d.Steps)
	}
	return f
}

// cmp3 compares pairs in turn.
func cmp3(pairs ...int64) int {
	for i := 0; i < len(pairs); i += 2 {
		switch {
		case pairs[i] < pairs[i+1]:
			return -1
		case pairs[i] > pairs[i+1]:
			return 1
		}
	}
	return 0
}

// read calls fn for every batch, in the order of the time they cover.
func (f *folder) read(ctx context.Context, fn func(i int, b *sample.Batch) error) error {
	f.ranks.begin()
	return f.ev.Read(ctx, f.order, fn)
}

// each calls fn for every row that the question lets through. The row is valid
// until fn returns.
func (f *folder) each(ctx context.Context, fn func(g *group, r *sample.Row)) error {
	var local []*group
	return f.read(ctx, func(_ int, b *sample.Batch) error {
		local = f.translate(b, local[:0])
		f.rowsOf(b, local, fn)
		return ctx.Err()
	})
}

func (f *folder) rowsOf(b *sample.Batch, local []*group, fn func(g *group, r *sample.Row)) {
	var r sample.Row
	for i := range b.Sent {
		g := local[b.Group[i]]
		if g.left || f.join.nested(b.SelfAt(i)) || f.join.within(b, i) {
			continue
		}
		r = b.Row(i)
		if f.blank.scenarios {
			r.Index = sample.NoIndex // it counts within a scenario
		}
		f.ranks.number(g, &r)
		fn(g, &r)
	}
}

// translate maps the groups of a batch to those of the run.
func (f *folder) translate(b *sample.Batch, to []*group) []*group {
	for i := range b.Groups {
		named := f.blank.of(b.Groups[i])
		g := f.groups[named]
		if g == nil {
			g = f.newGroup(&named)
		}
		to = append(to, g)
	}
	return to
}

func (f *folder) newGroup(s *sample.Group) *group {
	g := &group{Group: *s, deadline: s.Deadline, interval: s.ExpectedInterval}
	g.left = f.opt.Scenario != "" && s.Scenario != f.opt.Scenario || f.opt.Source != "" && s.Source != f.opt.Source
	if d := f.run.Declaration; d != nil {
		if g.deadline == 0 && d.DeadlineS != nil {
			g.deadline = nanos(*d.DeadlineS)
		}
		if d.FirstByteDeadlineS != nil {
			g.firstDeadline = nanos(*d.FirstByteDeadlineS)
		}
		if g.interval == 0 && d.ExpectedIntervalS != nil {
			g.interval = nanos(*d.ExpectedIntervalS)
		}
	}
	if f.opt.DeadlineS != nil {
		g.deadline = nanos(*f.opt.DeadlineS)
	}
	if f.opt.FirstByteDeadlineS != nil {
		g.firstDeadline = nanos(*f.opt.FirstByteDeadlineS)
	}
	if g.src = f.sources[s.Source]; g.src == nil {
		g.src = &source{name: s.Source, newest: math.MinInt64}
		f.sources[s.Source] = g.src
	}
	k := streamKey{s.Source, s.Scenario, s.Rate}
	if g.stream = f.streams[k]; g.stream == nil {
		g.stream = &stream{origin: math.MaxInt64}
		f.streams[k] = g.stream
	}
	if g.stream.schedule == nil {
		switch {
		case s.Rate > 0:
			g.stream.schedule = ConstantSchedule(s.Rate)
		case f.declared != nil:
			g.stream.schedule, g.stream.declared = f.partly(), true
		}
	}
	f.groups[*s] = g
	f.many = f.many || f.blank.see(s)
	return g
}

// scan is the first pass: everything that must be known before requests can be
// put on the time line. It sees attempts, and what it keeps does not depend on
// their order. Where the due time of a row or whether it counts hangs on other
// rows, the extent of the run is measured in a pass of its own.
func (f *folder) scan(ctx context.Context) error {
	entries := f.ev.Entries()
	var local []*group
	again, numbered, unplaced := false, false, false
	err := f.read(ctx, func(i int, b *sample.Batch) error {
		if local = f.translate(b, local[:0]); f.many {
			return errBlank
		}
		f.meter.add(b, arrivalMetric)
		f.addIterations(b)
		f.addNotes(b)
		f.places(b, local)
		f.points.add(b, sample.Span{From: math.MinInt64, To: math.MaxInt64}, meaningOf)
		f.rowsOf(b, local, func(g *group, r *sample.Row) {
			f.join.see(r)
			if g.begin(r) {
				again, numbered = true, true
			}
			again = again || r.Self != 0
			unplaced = unplaced || unnumbered(r)
			if !again {
				f.measure(g, r, entries[i].Span.From)
			}
		})
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if f.join.needsKeys() {
		if err := f.each(ctx, func(_ *group, r *sample.Row) { f.join.gather(r) }); err != nil {
			return err
		}
	}
	f.join.resolve()
	if f.divide() {
		if err := f.each(ctx, func(g *group, r *sample.Row) { g.begin(r) }); err != nil {
			return err
		}
	}
	if unplaced && !numbered && f.paced() {
		ranked, err := f.rank(ctx)
		if err != nil {
			return err
		}
		again = again || ranked
	}
	if !again {
		return nil
	}
	f.extent = newExtent()
	for _, s := range f.sources {
		s.newest, s.rows = math.MinInt64, 0
	}
	return f.read(ctx, func(i int, b *sample.Batch) error {
		local = f.translate(b, local[:0])
		f.rowsOf(b, local, func(g *group, r *sample.Row) { f.measure(g, r, entries[i].Span.From) })
		return ctx.Err()
	})
}

// begin moves the beginning of the schedule that a row counts, so that the row was
// not sent before it was due; it reports whether the row counts one.
func (g *group) begin(r *sample.Row) bool {
	if r.Index == sample.NoIndex || r.Intended != 0 || g.stream.schedule == nil {
		return false
	}
	g.stream.origin = min(g.stream.origin, r.Sent-g.stream.schedule.Offset(r.Index))
	return true
}

// Names of the metrics that describe the run's own arrivals (DESIGN section 4).
const (
	scheduledName    = "loadtest.arrivals.scheduled"
	droppedName      = "loadtest.arrivals.dropped"
	inFlightTimeName = "loadtest.requests.in_flight_time"
)

func arrivalMetric(name string) bool {
	return name == scheduledName || name == droppedName || name == inFlightTimeName || name == iterationsName
}

// measure adds a row to the extent of the run.
func (f *folder) measure(g *group, r *sample.Row, batchFrom int64) {
	due, grade, early := f.due(g, r)
	f.rows++
	f.first, f.last = min(f.first, due), max(f.last, r.Done)
	f.lastDue = max(f.lastDue, due)
	f.longest = max(f.longest, r.Done-due)
	f.lag = max(f.lag, batchFrom-due)
	if early {
		f.early++
	}
	if r.Flags&sample.Sampled != 0 {
		f.sampled++
	}
	if r.Attempt > 0 {
		f.resent++
	}
	if f.weakest == noGrade || grade > f.weakest {
		f.weakest = grade
	}
	g.src.newest = max(g.src.newest, r.Done)
	g.src.rows++
	f.deadlineSeen = f.deadlineSeen || g.limited()
	if g.firstDeadline > 0 && r.FirstByte == 0 && r.Outcome == sample.OK && r.Done-due > g.firstDeadline {
		f.unclocked++
	}
	f.nameStep(g.Step, due)
	f.nameModel(g.Model)
}

// mostNames is the most load steps that rows may name. Beyond it the names are
// something else, such as an id of the iteration, and the run has no named steps.
const mostNames = 1000

func (f *folder) nameStep(name string, due int64) {
	if name == "" {
		return
	}
	n := f.extent.steps[name]
	if n == nil {
		if len(f.extent.steps) > mostNames {
			return // they are no load steps, and none of them will be used
		}
		n = &named{due, due}
		f.extent.steps[name] = n
	}
	n.first, n.last = min(n.first, due), max(n.last, due)
}

func (f *folder) nameModel(m sample.Model) {
	switch {
	case m == sample.UnknownModel || m == f.model:
	case f.model == sample.UnknownModel:
		f.model = m
	default:
		f.mixedModel = true
	}
}

// earlyLimit is how far a send may lie before its intended time without a
// finding: the resolution of timers.
const earlyLimit = 1e6

// due returns when the request of a row was due and how that is known. A row
// that was sent before its intended time was due when it was sent.
func (f *folder) due(g *group, r *sample.Row) (due int64, grade Grade, early bool) {
	switch {
	case r.Intended != 0 && r.Flags&sample.Corrected != 0:
		due, grade = r.Intended, GradeX
	case r.Intended != 0 && r.Flags&sample.StartIsDue != 0: // the start of what the request belongs to
		due, grade = r.Intended, GradeC
	case r.Intended != 0:
		due, grade = r.Intended, GradeA
	case r.Flags&sample.StartIsDue != 0 && !f.follows:
		return r.Sent, GradeC, false
	case r.Index != sample.NoIndex && g.stream.schedule != nil:
		due, grade = g.stream.origin+g.stream.schedule.Offset(r.Index), GradeB
	case f.ranks != nil && r.Attempt > 0: // its request was due when the first attempt was
		return r.Sent, GradeB, false
	case g.interval > 0:
		return r.Sent, GradeE, false
	default:
		return r.Sent, GradeS, false
	}
	if r.Attempt == 0 && due > r.Sent+earlyLimit {
		early = true
	}
	return min(due, r.Sent), grade, early
}

// scenarios and sources of the rows, ascending.
func (f *folder) names() (scenarios, sources []string, generator, process string) {
	seen := map[string]bool{}
	gens := map[string]int64{}
	for _, g := range f.groups {
		if g.left {
			continue
		}
		if g.Scenario != "" {
			seen[g.Scenario] = true
		}
		gens[g.Generator] += g.src.rows
		if process == "" || g.Process < process && g.Process != "" {
			process = g.Process
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gens)) {
		if generator == "" || gens[name] > gens[generator] {
			generator = name
		}
	}
	for name, s := range f.sources {
		if s.rows > 0 {
			sources = append(sources, name)
		}
	}
	slices.Sort(sources)
	return slices.Sorted(maps.Keys(seen)), sources, generator, process
}

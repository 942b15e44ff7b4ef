package fold

import (
	"slices"

	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Widths of the cells of a series, finest first. A series that outgrows its
// budget goes to the next width as a whole.
var widths = [...]int64{1e9, 10e9, 60e9, 600e9, 3600e9, 24 * 3600e9}

// checkEvery is how many requests are recorded between two looks at the budget.
const checkEvery = 1 << 14

// Series is a run cut into cells of time. Cells begin at fixed distances from
// the start of their step and never cross the edge of one. Memory only grows
// with rows, so whether a width fits the budget does not depend on their order.
type Series struct {
	budget   int
	level    int
	segments []segment
	last     int // segment found last
	cells    []*Cell
	records  int
}

// segment is a stretch between two step edges.
type segment struct {
	from, to int64
	first    int // index of its first cell
}

// Cell is what happened in one stretch of time. Cohort counts are by due time,
// flow counts by the time they happened.
type Cell struct {
	From, To  int64
	Due       int64 // requests due, dropped ones not included
	DueGood   int64 // of those, answered within the deadline, however late that was known
	Dropped   int64
	Sent      int64 // attempts sent
	Retries   int64 // attempts sent that are resends
	Answered  int64 // attempts that a server answered, well or badly
	Ended     [sample.Outcomes]int64
	Good      int64 // OK answers within the deadline
	InFlight  Sum
	Response  *response.Cohort // by due time
	Service   *response.Histogram
	SendDelay *response.Histogram
	FirstByte *response.Histogram
	Inter     *response.Histogram // time between tokens, by due time
	Tokens    int64               // of OK answers, by the time they ended
}

func newSeries(budget int) *Series { return &Series{budget: budget} }

// WidthS is the width of a cell in seconds; the last one of a step may be shorter.
func (s *Series) WidthS() float64 { return float64(widths[s.level]) / 1e9 }

// Cells returns the cells in order of time, those without events included.
func (s *Series) Cells() []*Cell { return s.cells }

// begin lays out the grid over [from, to].
func (s *Series) begin(from, to int64, steps []*Step) {
	marks := []int64{from, to + 1}
	for _, st := range steps {
		marks = append(marks, st.From, st.To)
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	s.segments = s.segments[:0]
	for i := range marks[:len(marks)-1] {
		s.segments = append(s.segments, segment{from: marks[i], to: marks[i+1]})
	}
	s.fit()
	s.layout()
}

// maxCells bounds the grid whatever the length of the run.
const maxCells = 100_000

// fit chooses a first width that keeps the number of cells bounded.
func (s *Series) fit() {
	total := s.segments[len(s.segments)-1].to - s.segments[0].from
	for s.level+1 < len(widths) && total/widths[s.level] > maxCells {
		s.level++
	}
}

func (s *Series) layout() {
	s.cells = nil
	w := widths[s.level]
	for i := range s.segments {
		g := &s.segments[i]
		g.first = len(s.cells)
		for t := g.from; t < g.to; t += w {
			s.cells = append(s.cells, &Cell{From: t, To: min(t+w, g.to)})
		}
	}
	s.last = 0
}

// at returns the cell that holds t, or nil outside the grid.
func (s *Series) at(t int64) *Cell {
	g := &s.segments[s.last]
	if t < g.from || t >= g.to {
		i, found := slices.BinarySearchFunc(s.segments, t, func(g segment, t int64) int { return cmp3(g.from, t) })
		if !found {
			i--
		}
		if i < 0 || t >= s.segments[i].to {
			return nil
		}
		s.last = i
		g = &s.segments[i]
	}
	return s.cells[g.first+int((t-g.from)/widths[s.level])]
}

func (s *Series) attempt(r *sample.Row, _ int64) {
	c := s.at(r.Sent)
	if c == nil {
		return
	}
	c.Sent++
	if r.Attempt > 0 {
		c.Retries++
	}
	record(&c.Service, 2, r.Done-r.Sent)
	if r.Outcome != sample.Timeout && r.Outcome != sample.Cancelled && (r.Outcome != sample.Error || r.Status != 0) {
		if c := s.at(r.Done); c != nil {
			c.Answered++
		}
	}
}

func (s *Series) request(q *request, good bool) {
	if c := s.at(q.due); c != nil {
		c.cohort(q)
		if good {
			c.DueGood++
		}
	}
	if c := s.at(q.done); c != nil {
		c.Ended[q.outcome]++
		if q.outcome == sample.OK {
			c.Tokens += q.tokens
		}
		if good {
			c.Good++
		}
	}
	if s.records++; s.records%checkEvery == 0 {
		s.shrink()
	}
}

func (c *Cell) cohort(q *request) {
	c.Due++
	record(&c.SendDelay, 2, q.sent-q.due)
	if q.firstByte > 0 {
		record(&c.FirstByte, 2, max(0, q.firstByte-q.due))
		if between, ok := q.betweenTokens(); ok && q.done-q.firstByte >= wholeWithin {
			record(&c.Inter, 2, between)
		}
	}
	if q.outcome == sample.Shed {
		return
	}
	if c.Response == nil {
		c.Response = response.NewCohort(3)
	}
	into := c.Response.Exact
	if q.outcome == sample.Timeout || q.outcome == sample.Cancelled {
		into = c.Response.Censored
	}
	if q.grade == GradeE {
		into.RecordCorrected(q.done-q.due, q.g.interval)
	} else {
		into.Record(q.done - q.due)
	}
}

// record adds a value to a histogram that exists once it has one.
func record(h **response.Histogram, digits int, ns int64) {
	if *h == nil {
		*h = response.New(digits)
	}
	(*h).Record(ns)
}

// stay adds n requests in flight over [from, to).
func (s *Series) stay(from, to, n int64) {
	for from < to {
		c := s.at(from)
		if c == nil {
			return
		}
		end := min(to, c.To)
		c.InFlight.AddProduct(n, end-from)
		from = end
	}
}

// size is the memory of the cells in bytes.
func (s *Series) size() int {
	n := 0
	for _, c := range s.cells {
		n += 160
		if c.Response != nil {
			n += c.Response.Size()
		}
		for _, h := range [...]*response.Histogram{c.Service, c.SendDelay, c.FirstByte, c.Inter} {
			if h != nil {
				n += h.Size()
			}
		}
	}
	return n
}

// shrink widens the cells until they fit the budget.
func (s *Series) shrink() {
	for s.budget > 0 && s.level+1 < len(widths) && s.size() > s.budget {
		old := s.cells
		s.level++
		s.layout()
		for _, c := range old {
			s.at(c.From).Merge(c) // within the wider cell: its stretch stays
		}
	}
}

// Merge adds what a neighbouring cell holds and takes over its stretch of time.
func (c *Cell) Merge(o *Cell) {
	c.From, c.To = min(c.From, o.From), max(c.To, o.To)
	c.Dropped += o.Dropped
	c.Due += o.Due
	c.DueGood += o.DueGood
	c.Sent += o.Sent
	c.Retries += o.Retries
	c.Answered += o.Answered
	c.Good += o.Good
	c.Tokens += o.Tokens
	for i := range c.Ended {
		c.Ended[i] += o.Ended[i]
	}
	c.InFlight.merge(&o.InFlight)
	if o.Response != nil {
		if c.Response == nil {
			c.Response = o.Response.Clone()
		} else {
			c.Response.Merge(o.Response)
		}
	}
	mergeInto(&c.Service, o.Service)
	mergeInto(&c.SendDelay, o.SendDelay)
	mergeInto(&c.FirstByte, o.FirstByte)
	mergeInto(&c.Inter, o.Inter)
}

func mergeInto(to **response.Histogram, from *response.Histogram) {
	switch {
	case from == nil:
	case *to == nil:
		*to = from.Clone()
	default:
		(*to).Merge(from)
	}
}

// finish adds what is read from counters once the grid is final.
func (s *Series) finish(f *folder) {
	s.shrink()
	if f.part() {
		return
	}
	dropped := f.meter.reading(droppedName)
	for _, c := range s.cells {
		c.Dropped = dropped.count(c.From, c.To)
		if c.Dropped > 0 {
			if c.Response == nil {
				c.Response = response.NewCohort(3)
			}
			c.Response.Never = uint64(c.Dropped)
		}
	}
}

// Seconds is the length of the cell in seconds.
func (c *Cell) Seconds() float64 { return float64(c.To-c.From) / 1e9 }

package batch

import "github.com/plimsoll/plimsoll/analysis/sample"

// Limits of one request.
const (
	MostRuns   = 256
	MostGroups = 4096 // of a batch
)

// Building is a batch under construction.
type Building struct {
	*sample.Batch

	// Nesting says that some row needs to be told apart from the spans in it.
	Nesting bool

	groups map[sample.Group]uint16
	series map[sample.Series]uint32
}

// AddGroup returns the index of a group, or false when there are too many.
func (b *Building) AddGroup(g *sample.Group) (uint16, bool) {
	i, ok := b.groups[*g]
	if !ok {
		if len(b.Groups) == MostGroups {
			return 0, false
		}
		i = uint16(len(b.Groups))
		b.Groups = append(b.Groups, *g)
		b.groups[*g] = i
	}
	return i, true
}

// AddPoint adds an observation of a series, and the series when it is new;
// p.Series is set here.
func (b *Building) AddPoint(s *sample.Series, p sample.Point) {
	i, ok := b.series[*s]
	if !ok {
		i = uint32(len(b.Series))
		b.Series = append(b.Series, *s)
		b.series[*s] = i
	}
	p.Series = i
	b.Points = append(b.Points, p)
}

// ByRun sorts the rows and points of a request into a batch for each run, and
// keeps the batches for the next request.
type ByRun struct {
	runs map[string]int // by run id, or by source after a byte that no run id has
	used int
	all  []*Building
	out  []*sample.Batch
}

// NewByRun returns an empty one.
func NewByRun() *ByRun { return &ByRun{runs: map[string]int{}} }

// Reset begins a new request.
func (r *ByRun) Reset() {
	for _, b := range r.all[:r.used] {
		b.Reset()
		if len(b.groups) > 0 {
			clear(b.groups)
		}
		if len(b.series) > 0 {
			clear(b.series)
		}
		b.Nesting = false
	}
	if len(r.runs) > 0 {
		clear(r.runs)
	}
	r.used = 0
}

// To returns the index of the batch of a run, or of a source when run is empty.
// It returns false when the request names too many runs.
func (r *ByRun) To(run, name, source string) (int, bool) {
	key := run
	if run == "" {
		key = "\x01" + source
	}
	i, ok := r.runs[key]
	if !ok {
		if r.used == MostRuns {
			return 0, false
		}
		i = r.used
		if r.used++; r.used > len(r.all) {
			r.all = append(r.all, &Building{Batch: &sample.Batch{}, groups: map[sample.Group]uint16{}, series: map[sample.Series]uint32{}})
		}
		r.all[i].RunID = run
		r.runs[key] = i
	}
	if b := r.all[i]; b.RunName == "" {
		b.RunName = name
	}
	return i, true
}

// At returns the batch with an index that To gave.
func (r *ByRun) At(i int) *Building { return r.all[i] }

// Used returns the batches of the request.
func (r *ByRun) Used() []*Building { return r.all[:r.used] }

// Batches returns the batches that hold anything.
func (r *ByRun) Batches() []*sample.Batch {
	r.out = r.out[:0]
	for _, b := range r.all[:r.used] {
		if !b.Empty() {
			r.out = append(r.out, b.Batch)
		}
	}
	return r.out
}

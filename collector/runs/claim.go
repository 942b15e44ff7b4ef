package runs

import (
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Points of a source that name no run belong to a run that its spans name if
// they lie no further than this before or after it: exports come at least once
// in the first, and the last ones while the process ends.
const (
	claimBefore = int64(15 * time.Second)
	claimAfter  = int64(time.Minute)
)

// claim names the run of points that name none. Some generators (Artillery) put
// the id of the run on spans alone, so that their metrics would be a run of
// their own. The run is the newest one with rows of the same source around the
// time of the points.
func (c *Catalogue) claim(b *sample.Batch) {
	if b.RunID != "" || b.Len() > 0 || len(b.Points) == 0 || len(b.Series) == 0 || b.Series[0].Source == "" {
		return
	}
	span := b.Span()
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *run
	for _, s := range c.streams {
		if !s.explicit {
			continue
		}
		d := s.document(0)
		if d == nil || d.Source != tidy(b.Series[0].Source) {
			continue
		}
		for _, r := range s.runs() {
			if r.rowed > 0 && span.To >= r.span.From-claimBefore && span.To <= r.span.To+claimAfter &&
				(best == nil || r.span.From > best.span.From) {
				best = r
			}
		}
	}
	if best != nil {
		b.RunID = best.id
	}
}

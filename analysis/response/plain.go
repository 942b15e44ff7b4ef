package response

// Plain returns the nearest-rank quantile in seconds as a description of this
// cohort alone, without an interval: what a cell of a chart shows. It is nil
// when the rank lies among requests whose end was not seen, and when fewer than
// one request lies beyond the quantile.
func (c *Cohort) Plain(q float64) *float64 {
	n := c.N()
	if !(q > 0 && q < 1) || float64(n)*(1-q) < 1-1e-9 {
		return nil
	}
	r := nearestRank(q, n)
	early, ok := c.earliest(r)
	late, ended := c.latest(r)
	if !ok || !ended || late-early > max(unit, int64(same*float64(early))) {
		return nil
	}
	return seconds(early)
}

package response

import "testing"

func TestPlain(t *testing.T) {
	t.Parallel()
	c := NewCohort(3)
	check := func(q, want float64) {
		t.Helper()
		got := c.Plain(q)
		if (got == nil) != (want < 0) || (got != nil && !near(*got, want)) {
			t.Errorf("quantile %v of %d: %v, want %v", q, c.N(), got, want)
		}
	}
	check(0.5, -1)
	c.Exact.RecordN(1e9, 99)
	check(0.5, 1)
	check(0.99, -1) // less than one request lies beyond
	c.Exact.Record(2e9)
	check(0.99, 1)
	check(0.999, -1)
	c.Censored.RecordN(3e9, 100)
	check(0.25, 1)
	check(0.9, -1)
	check(1, -1)
}

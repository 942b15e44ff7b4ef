package importer

import (
	"math"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

func TestAutocannon(t *testing.T) {
	t.Parallel()
	quantiles := func(what string, times counts.Times, p50, p90, p975, p99, top float64) {
		t.Helper()
		for q, ms := range map[float64]float64{0.5: p50, 0.9: p90, 0.975: p975, 0.99: p99, 1: top} {
			within(t, what, times, q, (ms+0.5)/1e3, 1.1/ms)
		}
	}
	k, _ := importUndated(t, "autocannon-orders.json")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 1392, Requests: 1402}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	quantiles("orders", counts.ServiceTimes(in), 116, 128, 159, 258, 439)
	if j := counts.Judge(in); j.Loop != counts.LoopClosed {
		t.Errorf("orders: loop %q, %g in flight", j.Loop, j.Mean)
	}

	k, r := importUndated(t, "autocannon-stall.json")
	in = k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 1920, Requests: 2019}); got != want || !r.warned("made up 18058 of its 19978") {
		t.Errorf("%+v, want %+v; warnings %q", got, want, r.Warnings)
	}
	x := counts.ResponseTimes(in)
	if made := x.MadeUp(); counts.ServiceTimes(in).Buckets != nil || math.Abs(made-18058.0/19978) > 0.01 {
		t.Errorf("stall: %g of the values made up", made)
	}

	k, _ = importUndated(t, "autocannon-stall-plain.json")
	in = k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 2010, Requests: 2100}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	quantiles("without correction", counts.ServiceTimes(in), 2, 6, 17, 45, 1184)
	if j := counts.Judge(in); j.Loop == counts.LoopClosed || counts.ResponseTimes(in).Buckets != nil {
		t.Errorf("without correction: loop %q", j.Loop)
	}
}

func TestArtillery(t *testing.T) {
	t.Parallel()
	k, _ := importUndated(t, "artillery-orders.json.gz")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 750, Requests: 750}); got != want || in.Loop != counts.LoopOpen {
		t.Errorf("%s %+v, want %+v", in.Loop, got, want)
	}
	s := counts.ServiceTimes(in)
	for q, ms := range map[float64]float64{0.5: 41.7, 0.95: 67.4, 0.99: 102.5, 1: 125} {
		within(t, "orders", s, q, ms/1e3, 0.03)
	}
	if s.LeftOut() > 0 {
		t.Errorf("orders: %g left out", s.LeftOut())
	}

	k, r := importUndated(t, "artillery-ramp.json.gz")
	in = k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 2100, Failed: 1319, Requests: 2100, FailedRequests: 1319}); got != want || r.Grade() != "F" {
		t.Errorf("%+v, want %+v", got, want)
	}
	s = counts.ServiceTimes(in)
	for q, ms := range map[float64]float64{0.5: 383.8, 0.95: 1901.1, 0.99: 1978.7, 1: 2057} {
		within(t, "ramp", s, q, ms/1e3, 0.03)
	}
	if got := s.LeftOut(); math.Abs(got-1319.0/2100) > 1e-9 || !r.warned("answers only") {
		t.Errorf("ramp: %g left out, want 0.63; %q", got, r.Warnings)
	}
	if part := counts.ServiceTimes(in.Between(in.Intervals[0].To, in.Intervals[2].To)); part.Buckets != nil {
		t.Error("ramp: percentiles of the whole run are shown for a part of it")
	}
}

func TestFortio(t *testing.T) {
	t.Parallel()
	k, _ := importUndated(t, "fortio-stall.json")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 600, Requests: 600}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s := counts.ServiceTimes(in)
	within(t, "stall", s, 0.5, 0.0016, 0.6)
	within(t, "stall", s, 1, 0.499882145, 0.1)
	k, _ = importUndated(t, "fortio-closed.json")
	in = k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 400, Failed: 8, Requests: 400}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if j := counts.Judge(in); j.Loop != counts.LoopClosed {
		t.Errorf("closed: loop %q, %g of 2 in flight", j.Loop, j.Mean)
	}
}

func TestGhz(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "ghz-stall.json.gz")
	var longest int64
	outcomes := map[sample.Outcome]int{}
	for i := range k.rows {
		longest = max(longest, k.rows[i].Done-k.rows[i].Sent)
		outcomes[k.rows[i].Outcome]++
	}
	if len(k.rows) != 501 || longest != 501355814 || outcomes[sample.OK] != 500 || outcomes[sample.Error] != 1 {
		t.Errorf("%d calls, the longest %d ns, %v", len(k.rows), longest, outcomes)
	}
	if r.Grade() != "S" || k.groups[0].Model != sample.UnknownModel || !r.warned("without --async") {
		t.Errorf("grade %s, model %v, %q", r.Grade(), k.groups[0].Model, r.Warnings)
	}
}

func TestFortioLog(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "fortio-stall-access.json.gz")
	if len(k.rows) != 600 || r.Grade() != "A" || k.dropped() != 0 {
		t.Fatalf("%d requests of grade %s, %g dropped: %q", len(k.rows), r.Grade(), k.dropped(), r.Warnings)
	}
	late, longest, early := 0, int64(0), int64(0)
	for i := range k.rows {
		row := &k.rows[i]
		if row.Sent-row.Intended > 50e6 {
			late++
		}
		longest = max(longest, row.Done-row.Intended)
		early = max(early, row.Intended-row.Sent)
	}
	// A stall of 500 ms: about 11 requests of each of 4 threads wait for it.
	if late < 40 || late > 50 || longest < 490e6 || longest > 520e6 || early > 0 {
		t.Errorf("%d late, the longest %d ns, early by %d ns", late, longest, early)
	}
}

// TestFortioLogSkips: with -nocatchup the numbers that are missing were due and
// dropped; without a rate nothing is due.
func TestFortioLogSkips(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "fortio-nocatchup-access.json.gz")
	if len(k.rows) != 551 || r.Dropped != 49 || k.dropped() != 49 || r.Grade() != "A" {
		t.Errorf("%d sent, %g dropped of grade %s, want 551 and 49 of 600", len(k.rows), r.Dropped, r.Grade())
	}
	k, r = importUndated(t, "fortio-max-access.json.gz")
	if o := k.outcomes(); len(k.rows) != 1200 || o[sample.Shed] != 12 || r.Grade() != "S" || k.groups[0].Model != sample.Closed {
		t.Errorf("%d sent, %v, grade %s, %v", len(k.rows), o, r.Grade(), k.groups[0].Model)
	}
}

package importer

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// endOfRun is when the files of testdata that hold no date were written.
const endOfRun = int64(1796046400e9)

// importUndated imports a file of testdata that was written at endOfRun.
func importUndated(t testing.TB, name string) (*kept, *Report) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var k kept
	r, err := Import(t.Context(), Input{Name: name, Reader: f, Written: endOfRun}, k.keep)
	if err != nil {
		t.Fatalf("import %s: %v", name, err)
	}
	return &k, r
}

// input is what package counts makes of the points.
func (k *kept) input(t testing.TB) counts.Input {
	t.Helper()
	b := &sample.Batch{Series: k.series, Points: k.points}
	for i := range b.Points {
		b.Points[i].Series = uint32(i)
	}
	for _, in := range counts.Recognise(b) {
		if in.Stream == "" {
			return in
		}
	}
	t.Fatal("the points are not recognised")
	return counts.Input{}
}

// within checks that a quantile of times lies in its bucket, and that the bucket
// is no wider than a share of the value.
func within(t *testing.T, what string, times counts.Times, q, want, width float64) {
	t.Helper()
	b, ok := times.Buckets.Quantile(q)
	if !ok || want < b.Lo*(1-1e-9) || want > b.Hi*(1+1e-9) || b.Hi-b.Lo > width*want*(1+1e-9) {
		t.Errorf("%s: p%g is in (%g, %g], want %g within %g", what, 100*q, b.Lo, b.Hi, want, width)
	}
}

// warned reports whether a warning of the report holds a text.
func (r *Report) warned(text string) bool {
	return strings.Contains(strings.Join(r.Warnings, "\n"), text)
}

func TestWrk(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "wrk-stall.txt")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 5131, Requests: 5131}); got != want || r.Grade() != "F" || len(k.rows) > 0 {
		t.Errorf("%+v of grade %s, want %+v", got, r.Grade(), want)
	}
	if got := float64(in.Intervals[0].To-in.From) / 1e9; math.Abs(got-20.05) > 0.01 || in.Intervals[0].To != endOfRun {
		t.Errorf("%g s until %d", got, in.Intervals[0].To)
	}
	x := counts.ResponseTimes(in)
	within(t, "corrected", x, 0.5, 0.00152, 0.01)
	within(t, "corrected", x, 0.9, 0.00839, 0.01)
	within(t, "corrected", x, 0.99, 1.80, 0.01)
	within(t, "corrected", x, 0.95, 1, 2) // between those that it prints
	if got := r.Length().Seconds(); math.Abs(got-20.05) > 0.01 {
		t.Errorf("the report says %g s", got)
	}
	if s := counts.ServiceTimes(in); s.Buckets != nil {
		t.Errorf("service times out of corrected ones: %v", s)
	}
	if !r.warned("grade X") || !r.warned("when it was last written") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if j := counts.Judge(in); j.Loop != counts.LoopClosed || math.Abs(j.EndedPerS-255.9) > 0.1 || j.MeanS != 0 {
		t.Errorf("%v %g/s: %s", j.Loop, j.EndedPerS, j.Reason)
	}
}

func TestWrk2(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "wrk2-stall.txt")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 4002, Requests: 4002}); got != want || in.Generator != "wrk2" {
		t.Errorf("%s %+v, want %+v", in.Generator, got, want)
	}
	x, s := counts.ResponseTimes(in), counts.ServiceTimes(in)
	if n := x.Buckets.Count(); n != 2980 || x.LeftOut() > 0.01 || x.MadeUp() > 0 {
		t.Errorf("%g values, %g left out, %g made up", n, x.LeftOut(), x.MadeUp())
	}
	within(t, "corrected", x, 0.5, 0.002349, 0.001)
	within(t, "corrected", x, 0.95, 0.459519, 0.001)
	within(t, "corrected", x, 0.99, 1.631, 0.004)
	within(t, "corrected", x, 0.999, 1.854, 0.003)
	within(t, "corrected", x, 1, 2.0096, 0.001)
	within(t, "from the send", s, 0.99, 0.0180, 0.004)
	within(t, "from the send", s, 0.5, 0.0013915, 0.001)
	if !r.warned("first 10 s") || !r.warned("Socket errors: connect 0, read 0, write 0, timeout 1") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if _, err := Import(t.Context(), Input{Reader: strings.NewReader("Running 1s test @ http://a\n  1 threads and 1 connections\n  5 requests in 1.00s, 1KB read\n")}, k.keep); err == nil || !strings.Contains(err.Error(), "--ended") {
		t.Errorf("without a date: %v", err)
	}
}

func TestHeySummary(t *testing.T) {
	t.Parallel()
	k, _ := importUndated(t, "hey-orders-summary.txt")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 878, Requests: 878}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s := counts.ServiceTimes(in)
	within(t, "from the send", s, 0.5, 0.1219, 0.001)
	within(t, "from the send", s, 0.95, 0.1854, 0.001)
	within(t, "from the send", s, 0.99, 0.2594, 0.001)
	within(t, "from the send", s, 1, 0.2944, 0.001)
	if j := counts.Judge(in); j.Loop != counts.LoopClosed || math.Abs(j.MeanS-0.1142) > 1e-6 {
		t.Errorf("%v, mean %g s", j.Loop, j.MeanS)
	}
}

// TestRequests checks files with a line a request against what their tools said.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file               string
		rows, failed       int
		p50, p95, p99, max float64 // from the send, in ms, to the file's resolution
		grade, warned      string
		model              sample.Model
	}{
		{"hey-orders-90.csv.gz", 1278, 0, 92.2, 165.3, 253.2, 315.3, "S", "missed tick is lost", sample.Closed},
		{"h2load-orders.log.gz", 1452, 0, 0, 0, 0, 171.13, "S", "under way when the run ended", sample.Closed},
	} {
		k, r := importUndated(t, c.file)
		failed := 0
		took := make([]float64, len(k.rows))
		for i := range k.rows {
			row := &k.rows[i]
			if took[i] = float64(row.Done-row.Sent) / 1e6; row.Outcome != sample.OK {
				failed++
			}
			if k.groups[i].Model != c.model {
				t.Fatalf("%s: model %v, want %v", c.file, k.groups[i].Model, c.model)
			}
		}
		if len(took) != c.rows || failed != c.failed || r.Grade() != c.grade || r.Bad != 0 || r.Torn {
			t.Errorf("%s: %d requests, %d failed, grade %s, %d bad; want %d, %d, %s", c.file, len(took), failed, r.Grade(), r.Bad, c.rows, c.failed, c.grade)
			continue
		}
		slices.Sort(took)
		for q, want := range map[float64]float64{0.5: c.p50, 0.95: c.p95, 0.99: c.p99, 1: c.max} {
			if got := took[rankOf(q, uint64(len(took)))-1]; want != 0 && math.Abs(got-want) > 0.001*want {
				t.Errorf("%s: p%g is %g ms, want %g", c.file, 100*q, got, want)
			}
		}
		if !r.warned(c.warned) {
			t.Errorf("%s: warnings %q lack %q", c.file, r.Warnings, c.warned)
		}
	}
}

func TestAB(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "ab-orders.tsv.gz")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 1500, Requests: 1500}); got != want || r.Grade() != "F" || len(in.Intervals) != 17 {
		t.Errorf("%+v in %d intervals of grade %s", got, len(in.Intervals), r.Grade())
	}
	s := counts.ServiceTimes(in)
	for q, ms := range map[float64]float64{0.5: 110, 0.9: 128, 0.95: 133, 0.98: 144, 0.99: 150, 1: 164} {
		rank := min(math.Floor(1500*q)+1, 1500) // as ab counts
		within(t, "ab", s, rank/1500, ms/1e3, 0.011)
	}
	if j := counts.Judge(in); j.Loop != counts.LoopClosed || math.Abs(j.MeanS-0.105) > 0.001 {
		t.Errorf("%v, mean %g s: %s", j.Loop, j.MeanS, j.Reason)
	}
}

func TestLocust(t *testing.T) {
	t.Parallel()
	k, _ := importUndated(t, "locust-orders_stats.csv")
	in := k.input(t)
	if got, want := in.Totals(), (counts.Totals{Ended: 1798, Requests: 1798}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s := counts.ServiceTimes(in)
	for q, ms := range map[float64]float64{0.5: 110, 0.9: 130, 0.95: 130, 0.99: 150, 1: 170} {
		within(t, "locust", s, q, ms/1e3, 0.1)
	}
	if j := counts.Judge(in); j.Loop != counts.LoopClosed || math.Abs(j.MeanS-0.105047) > 1e-6 || math.Abs(j.EndedPerS-94.518) > 0.01 {
		t.Errorf("%v, mean %g s, %g/s", j.Loop, j.MeanS, j.EndedPerS)
	}
	k, r := importUndated(t, "locust-orders_stats_history.csv")
	in = k.input(t)
	if got := in.Totals(); got.Ended != 943 || got.Requests != 943 || in.Intervals[5].Limit != 10 {
		t.Errorf("history: %+v", got)
	}
	if counts.ServiceTimes(in).Buckets != nil || !r.warned("the last requests may be missing") {
		t.Errorf("history: percentiles, or no warning: %q", r.Warnings)
	}
	if j := counts.Judge(in); math.Abs(j.MeanS-0.105) > 0.002 || math.Abs(j.Mean-10) > 1.5 {
		t.Errorf("history: mean %g s, %g in flight", j.MeanS, j.Mean)
	}
}

// outcomes counts rows by outcome.
func (k *kept) outcomes() map[sample.Outcome]int {
	out := map[sample.Outcome]int{}
	for i := range k.rows {
		out[k.rows[i].Outcome]++
	}
	return out
}

func TestLocustRequests(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "locust-requests.csv")
	if o := k.outcomes(); len(k.rows) != 272 || o[sample.OK] != 263 || o[sample.Shed] != 9 || r.Bad != 0 || r.Torn {
		t.Errorf("%d requests, %v, %d bad", len(k.rows), o, r.Bad)
	}
	scenarios := map[string]int{}
	var longest int64
	for i := range k.rows {
		scenarios[k.groups[i].Scenario]++
		longest = max(longest, k.rows[i].Done-k.rows[i].Sent)
	}
	if scenarios["/stall"] != 253 || scenarios[`/fail, "quoted"`] != 19 || longest != 499.14e6 {
		t.Errorf("%v, the longest %d ns", scenarios, longest)
	}
}

func TestTsung(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "tsung.dump")
	if o := k.outcomes(); len(k.rows) != 4 || o[sample.OK] != 2 || o[sample.Shed] != 1 || o[sample.Timeout] != 1 || r.Bad != 0 {
		t.Fatalf("%d requests, %v, %d bad: %s", len(k.rows), o, r.Bad, r.FirstBad)
	}
	if row := k.rows[0]; row.Done != 1398962662309014000 || row.Done-row.Sent != 238420000 {
		t.Errorf("%+v", row)
	}
	if k.groups[1].Scenario != "login" || k.groups[0].Scenario != "" {
		t.Errorf("%+v", k.groups)
	}
}

func TestYCSB(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "ycsb-raw.txt")
	if o := k.outcomes(); len(k.rows) != 5 || o[sample.OK] != 4 || o[sample.Error] != 1 || r.Bad != 0 || r.Grade() != "S" || !r.warned("READ-MODIFY-WRITE") {
		t.Errorf("%d operations, %v, %d bad, grade %s: %q", len(k.rows), o, r.Bad, r.Grade(), r.Warnings)
	}
	if row := k.rows[2]; row.Done-row.Sent != 100120e3 || k.groups[2].Scenario != "READ" {
		t.Errorf("%+v", row)
	}
	both := "READ latency raw data: op, timestamp(ms), latency(us)\nREAD,1438613579290,488\n" +
		"Intended-READ latency raw data: op, timestamp(ms), latency(us)\nIntended-READ,1438613579290,5000\n"
	k, r, err := importText(t, "out.txt", both)
	if err != nil || len(k.rows) != 1 || r.Grade() != "X" {
		t.Fatalf("both: %d operations of grade %s: %v", len(k.rows), r.Grade(), err)
	}
	if row := k.rows[0]; row.Done-row.Intended != 5000e3 || row.Flags&sample.Corrected == 0 || k.groups[0].Scenario != "READ" {
		t.Errorf("both: %+v", row)
	}
}

// TestLocustBoth: the two files of a run add up to its totals once.
func TestLocustBoth(t *testing.T) {
	t.Parallel()
	both, _ := importUndated(t, "locust-orders_stats_history.csv")
	f, err := os.Open(filepath.Join("testdata", "locust-orders_stats.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Import(t.Context(), Input{Name: "locust_stats.csv", Reader: f, Ended: 1796046566e9}, both.keep); err != nil {
		t.Fatal(err)
	}
	in := both.input(t)
	if got := in.Totals(); got.Ended != 1798 || got.Requests != 1798 {
		t.Errorf("%+v", got)
	}
	within(t, "both", counts.ServiceTimes(in), 0.99, 0.15, 0.1)
}

// TestUndatedAgain: a file without dates is known again when it was copied, so
// that its run does not get its requests twice.
func TestUndatedAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hey-orders-90.csv.gz", "wrk2-stall.txt", "oha-closed.csv.gz", "hey-orders-summary.txt"} {
		k, _ := importUndated(t, name)
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := Import(t.Context(), Input{Name: name, Reader: f, Written: endOfRun + 3600e9}, k.keep)
		if err != nil || !r.Again() {
			t.Errorf("%s: %d of %d parts are known again: %v", name, r.Duplicates, r.Chunks, err)
		}
	}
}

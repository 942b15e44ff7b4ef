package influx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// TestCaptures counts what real generators sent: every request a row, every
// dropped arrival counted, nothing refused.
func TestCaptures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		rows        int
		dropped     float64
		medianMS    float64
		generator   string
		run         string
		errors, due int
	}{
		{name: "k6-arrival-90", rows: 900, medianMS: 48.03, generator: "k6", run: "orders-90", due: 900},
		{name: "k6-arrival-150", rows: 2970, dropped: 1531, medianMS: 2130.67, generator: "k6", due: 2970},
		{name: "k6-closed-10", rows: 2593, medianMS: 120.1, generator: "k6", due: 2593},
		{name: "jmeter", rows: 1331, medianMS: 117, generator: "jmeter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := NewDecoder(convention.Default())
			var took []int64
			var dropped, counted float64
			var due, failed int
			for _, b := range capture(t, c.name) {
				for _, batch := range d.Decode(b.lines, b.about(t)) {
					for i := range batch.Len() {
						r := batch.Row(i)
						took = append(took, r.Done-r.Sent)
						if r.Flags&sample.StartIsDue != 0 {
							due++
						}
						if r.Outcome != sample.OK {
							failed++
						}
						if r.FirstByte < r.Sent || r.FirstByte > r.Done {
							t.Fatalf("first byte of %+v", r)
						}
						if g := batch.Groups[r.Group]; g.Generator != c.generator || batch.RunID != c.run {
							t.Fatalf("run %q, group %+v", batch.RunID, g)
						}
					}
					for _, p := range batch.Points {
						switch batch.Series[p.Series].Name {
						case dropsName:
							dropped += p.Value
						case "jmeter.count":
							counted += p.Value
						}
					}
				}
				if m := d.Report().Message(); m != "" {
					t.Fatal(m)
				}
			}
			if len(took) != c.rows || dropped != c.dropped || due != c.due || failed != c.errors {
				t.Errorf("%d rows, %v dropped, %d due when sent, %d failed", len(took), dropped, due, failed)
			}
			if c.generator == "jmeter" && counted != float64(c.rows) {
				t.Errorf("the standard listener counted %v, the raw one %d", counted, c.rows)
			}
			slices.Sort(took)
			if m := float64(took[len(took)/2]) / 1e6; math.Abs(m-c.medianMS) > 0.001*c.medianMS {
				t.Errorf("median %v ms, want %v", m, c.medianMS)
			}
		})
	}
}

const stamp = "1796065843941483903"

func TestK6Requests(t *testing.T) {
	t.Parallel()
	const at = int64(1796065843941483903)
	d := NewDecoder(convention.Default())
	b := one(
		t, d,
		`http_reqs,scenario=a,status=200 value=1 `+stamp,
		`http_req_duration,expected_response=true,method=POST,scenario=a,status=200,testid=t1 url="http://x/y, z",value=50 `+stamp,
		`http_req_blocked,expected_response=true,method=POST,scenario=a,status=200,testid=t1 value=0.5 `+stamp,
		`http_req_receiving,expected_response=true,method=POST,scenario=a,status=200,testid=t1 value=10 `+stamp,
		`http_req_duration,error=request\ timeout,error_code=1050,expected_response=false,scenario=a,status=0,testid=t1 value=2000 `+stamp,
		`http_req_duration,expected_response=false,scenario=b,status=429,testid=t1 value=1 `+stamp,
		`http_req_duration,expected_response=true,scenario=b,status=404,testid=t1 value=1 `+stamp,
		`http_req_duration,expected_response=false,scenario=b,status=200,testid=t1 value=1 `+stamp,
		`grpc_req_duration,scenario=b,status=14,testid=t1 value=1 `+stamp,
		`http_req_duration,group=::setup,status=200 value=1 `+stamp,
	)
	type row struct {
		Scenario      string
		Took, Tail    int64 // µs; first byte to the end
		Outcome       sample.Outcome
		Status        int16
		RightWhenSent bool
		Done          int64
	}
	var got []row
	for i := range b.Len() {
		r := b.Row(i)
		x := row{b.Groups[r.Group].Scenario, (r.Done - r.Sent) / 1e3, 0, r.Outcome, r.Status, r.Flags == sample.StartIsDue, r.Done}
		if r.FirstByte > 0 {
			x.Tail = (r.Done - r.FirstByte) / 1e3
		}
		got = append(got, x)
	}
	want := []row{
		{"a", 50_500, 10_000, sample.OK, 200, true, at},
		{"a", 2_000_000, 0, sample.Timeout, 0, true, at},
		{"b", 1000, 0, sample.Shed, 429, true, at},
		{"b", 1000, 0, sample.OK, 404, true, at},
		{"b", 1000, 0, sample.Error, 200, true, at},
		{"b", 1000, 0, sample.Shed, 14, true, at},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if b.RunID != "t1" || b.Groups[0].Generator != "k6" || d.Report().Counts[Detail] != 2 {
		t.Errorf("run %q, %+v", b.RunID, d.Report())
	}
}

// TestDrops counts what k6 drops at about the time at which it was due.
func TestDrops(t *testing.T) {
	t.Parallel()
	const second = int64(1796065843e9)
	var lines []string
	for i := range int64(30) {
		lines = append(lines, fmt.Sprintf("dropped_iterations,scenario=a value=1 %d", second+i*10e6))
	}
	lines = append(lines, fmt.Sprintf("vus value=7 %d", second), fmt.Sprintf("vus_max value=9 %d", second))
	b := one(t, NewDecoder(convention.Default()), lines...)
	var sum float64
	for _, p := range b.Points {
		switch s := b.Series[p.Series]; s.Name {
		case dropsName:
			sum += p.Value
			if p.Time-p.Start > tallyBin+1 || s.Kind != sample.DeltaSum || s.Attributes != "scenario=a" {
				t.Errorf("%+v of %+v", p, s)
			}
		case "vus", "vus_max":
			if s.Scope != "k6" || s.Kind != sample.Gauge {
				t.Errorf("%+v", s)
			}
		default:
			t.Errorf("%+v", s)
		}
	}
	if sum != 30 || len(b.Points) != 5 {
		t.Errorf("%v dropped in %d points", sum, len(b.Points))
	}
}

// TestRefused keeps the lines around bad ones.
func TestRefused(t *testing.T) {
	t.Parallel()
	d := NewDecoder(convention.Default())
	batches := d.Decode([]byte(strings.Join([]string{
		"# a comment", "", `jmeter,status=ok,transaction=a,threadName=t1 duration=5,ttfb=4,connectTime=0 ` + stamp,
		`jmeter,status=ok,transaction=a`, `jmeter,status=ko,transaction=a,threadName=t1 duration=5,ttfb=4,connectTime=0 17`,
		`cpu,host=a usage=1 ` + stamp, `jmeter,status=ko,transaction=a,threadName=t1 duration=7,ttfb=0,connectTime=0 ` + stamp,
	}, "\n")), &About{Unit: 1})
	r := d.Report()
	if len(batches) != 1 || batches[0].Len() != 2 || r.Lines != 7 || r.FirstBad != 4 || r.Counts[Unknown] != 1 {
		t.Fatalf("%d batches, %+v", len(batches), r)
	}
	for _, want := range []string{`unable to parse 'jmeter,status=ok,transaction=a': missing fields`, "precision"} {
		if !strings.Contains(r.Message(), want) {
			t.Errorf("message %q lacks %q", r.Message(), want)
		}
	}
	if got := batches[0].Outcome; !slices.Equal(got, []sample.Outcome{sample.OK, sample.Error}) {
		t.Errorf("outcomes %v", got)
	}
	many := d.Decode([]byte(strings.Repeat("x\n", 100)), &About{Unit: 1})
	if len(many) != 0 || !strings.HasSuffix(d.Report().Message(), "and 90 more lines") {
		t.Errorf("%q", d.Report().Message())
	}
}

// TestRunsAndSources says where lines belong.
func TestRunsAndSources(t *testing.T) {
	t.Parallel()
	jmeter := func(tags string) string {
		return "jmeter,status=ok,transaction=a,threadName=t1" + tags + " duration=5,ttfb=4,connectTime=0 " + stamp
	}
	for _, c := range []struct {
		line              string
		about             About
		run, name, source string
	}{
		{line: jmeter(""), about: About{Database: "jmeter", Sender: "10.0.0.7"}, source: "jmeter@10.0.0.7"},
		{line: jmeter(""), about: About{Database: "shop", Sender: "10.0.0.7"}, source: "shop/jmeter@10.0.0.7"},
		{line: jmeter(""), about: About{Sender: "h", Run: "r1", Name: "orders"}, run: "r1", name: "orders", source: "jmeter@h"},
		{line: jmeter(",testid=r2,host=lg-3"), about: About{Sender: "h", Run: "r1"}, run: "r2", source: "jmeter@lg-3"},
		{line: jmeter(",run=r3,test_id=r4"), run: "r4", source: "jmeter"},
		{line: jmeter(",runId=r3,instance=i,service=load"), run: "r3", source: "load@i"},
		{line: jmeter(`,application=orders\ app`), name: "orders app", source: "jmeter"},
	} {
		c.about.Unit = 1
		d := NewDecoder(convention.Default())
		batches := d.Decode([]byte(c.line), &c.about)
		if len(batches) != 1 {
			t.Fatalf("%s: %s", c.line, d.Report().Message())
		}
		b := batches[0]
		if b.RunID != c.run || b.RunName != c.name || b.Groups[0].Source != c.source {
			t.Errorf("%s: run %q, name %q, source %q", c.line, b.RunID, b.RunName, b.Groups[0].Source)
		}
	}
	d := NewDecoder(convention.Default())
	var lines []string
	for i := range batch.MostRuns + 1 {
		lines = append(lines, jmeter(fmt.Sprintf(",testid=%d", i)))
	}
	if d.Decode([]byte(strings.Join(lines, "\n")), &About{Unit: 1}); d.Report().Counts[TooManyRuns] != 1 {
		t.Errorf("%+v", d.Report())
	}
}

func TestFortio(t *testing.T) {
	t.Parallel()
	d := NewDecoder(convention.Default())
	b := one(
		t, d,
		`latency,thread=0,ok=true value=0.041500,details="200" `+stamp,
		`latency,thread=3,ok=false value=0.002000,details="503" `+stamp,
		`latency,thread=3,ok=false value=3.000000,details="context deadline exceeded" `+stamp,
	)
	if d := cmp.Diff([]sample.Outcome{sample.OK, sample.Shed, sample.Timeout}, b.Outcome); d != "" {
		t.Error(d)
	}
	if b.Done[0]-b.Sent[0] != 41_500_000 || b.Status[1] != 503 || b.Groups[0].Generator != "fortio" {
		t.Errorf("%+v", b)
	}
}

// TestMapped reads lines that only a mapping file explains.
func TestMapped(t *testing.T) {
	t.Parallel()
	m, err := convention.ParseMapping([]byte(`
attributes: {planned_ns: loadtest.intended_time_unix_nano, journey: loadtest.scenario}
metrics: {queue_depth: queue, gen.missed: dropped}
requests: {call.took: end_us}
outcomes: {broke: timeout}
`))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(convention.New(m))
	batches := d.Decode([]byte(strings.Join([]string{
		`call,journey=pay,status=200,testid=r took=1500i,planned_ns=1796065843941000000i ` + stamp,
		`call,journey=pay,result=broke,testid=r took=10 ` + stamp,
		`gen,testid=r missed=4,other=5 ` + stamp,
		`queue_depth,host=db value=7 ` + stamp,
	}, "\n")), &About{Unit: 1})
	if len(batches) != 2 || d.Report().Message() != "" {
		t.Fatalf("%d batches: %s", len(batches), d.Report().Message())
	}
	rows, server := batches[0], batches[1]
	if rows.RunID != "r" || rows.Len() != 2 || rows.Intended[0] != 1796065843941000000 || rows.Done[0]-rows.Sent[0] != 1_500_000 ||
		rows.Status[0] != 200 || rows.Outcome[1] != sample.Timeout || rows.Groups[0].Scenario != "pay" {
		t.Errorf("%+v", rows)
	}
	if s := rows.Series[0]; s.Name != dropsName || s.Kind != sample.Counter || rows.Points[0].Value != 4 {
		t.Errorf("%+v %+v", s, rows.Points)
	}
	if server.RunID != sample.Telemetry || server.Series[0].Name != "plimsoll.role.queue:queue_depth" || server.Points[0].Value != 7 {
		t.Errorf("%+v", server)
	}
}

// TestK6Attempts joins attempts by tags of the script.
func TestK6Attempts(t *testing.T) {
	t.Parallel()
	line := func(request, resend, status string) string {
		return "http_req_duration,http.request.resend_count=" + resend + ",loadtest.request.id=" + request + ",scenario=a,status=" + status + " value=50 " + stamp
	}
	b := one(t, NewDecoder(convention.Default()), line("7-1", "0", "500"), line("7-1", "1", "200"), line("8-1", "0", "200"))
	if b.Len() != 3 || b.Key[0] == 0 || b.Key[0] != b.Key[1] || b.Key[2] == b.Key[0] || b.Attempt[1] != 1 || b.Flags[1]&sample.RequestKey == 0 {
		t.Errorf("keys %v, attempts %v, flags %v", b.Key, b.Attempt, b.Flags)
	}
}

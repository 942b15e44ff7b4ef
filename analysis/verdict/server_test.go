package verdict_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// shop is the count of requests of the service under test.
func shop(source, service string) sample.Series {
	return sample.Series{Source: source, Service: service, Name: "http.server.request.duration", Unit: "s", Kind: sample.Histogram}
}

// tallied is a distribution with so many values at each second after the start of
// the run.
func tallied(s sample.Series, values map[int64]float64) *sample.Batch {
	b := metric(s, start-600e9, values)
	for i := range b.Points {
		p := &b.Points[i]
		p.Histogram, p.Value = &sample.Distribution{Count: uint64(p.Value)}, p.Value/50
	}
	return b
}

// ramp rises by perS between two times and is exported every ten seconds.
func ramp(base, perS float64, from, to int64) map[int64]float64 {
	out := map[int64]float64{}
	for at := int64(-60); at <= 100; at += 10 {
		out[at] = base + perS*float64(min(max(at, from), to)-from)
	}
	return out
}

// increments are perS a second while the run lasts, sent as what was added in each
// ten seconds.
func increments(s sample.Series, perS float64) *sample.Batch {
	s.Kind = sample.DeltaHisto
	b := &sample.Batch{RunID: sample.Telemetry, Series: []sample.Series{s}}
	for at := int64(-50); at <= 90; at += 10 {
		n := uint64(0)
		if at > 0 && at <= 60 {
			n = uint64(10 * perS)
		}
		b.Points = append(b.Points, sample.Point{
			Start: start + (at-10)*1e9, Time: start + at*1e9, Value: float64(n) / 50, Histogram: &sample.Distribution{Count: n},
		})
	}
	return b
}

func TestServerCounts(t *testing.T) {
	t.Parallel()
	background := ramp(1000, 20, -100, 200)
	for at, v := range ramp(0, 100, 0, 60) {
		background[at] += v
	}
	for _, c := range []struct {
		name     string
		servers  []*sample.Batch
		code     string
		value    float64 // 0: no finding
		says     string
		timeouts bool
	}{
		{"as many", []*sample.Batch{tallied(shop("s", "shop"), ramp(5e6, 100, 0, 60))}, "hidden_retries", 0, "", false},
		{"half as many again", []*sample.Batch{tallied(shop("s", "shop"), ramp(5e6, 150, 0, 60))}, "hidden_retries", 0.5, "9,000 requests", false},
		{"on two hosts", []*sample.Batch{tallied(shop("s", "shop"), ramp(0, 80, 0, 60)), tallied(shop("r", "shop"), ramp(9, 70, 0, 60))}, "hidden_retries", 0.5, "9,000", false},
		{"others at all times", []*sample.Batch{tallied(shop("s", "shop"), background)}, "hidden_retries", 0, "", false},
		{"the example of docs/littles-law.md", []*sample.Batch{
			tallied(shop("s", "shop"), map[int64]float64{-60: 0, -10: 1000, 30: 5000, 70: 10_400}),
		}, "hidden_retries", 0.3, "7,800", false},
		{"increments", []*sample.Batch{increments(shop("s", "shop"), 150)}, "hidden_retries", 0.5, "9,000", false},
		{"one service behind another", []*sample.Batch{
			tallied(shop("s", "shop"), ramp(0, 100, 0, 60)), tallied(shop("b", "billing"), ramp(0, 300, 0, 60)),
		}, "hidden_retries", 0, "", false},
		{"exports that end early", []*sample.Batch{tallied(shop("s", "shop"), map[int64]float64{-10: 0, 0: 0, 30: 6000})}, "hidden_retries", 0, "", false},
		{"errors from their first on", []*sample.Batch{
			tallied(shop("s", "shop"), ramp(0, 100, 0, 60)),
			tallied(sample.Series{Source: "s", Service: "shop", Name: "http.server.request.duration", Attributes: "http.response.status_code=500", Unit: "s", Kind: sample.Histogram}, map[int64]float64{30: 100, 70: 3000}),
		}, "hidden_retries", 0.5, "9,000", false},
		{"a clock behind", []*sample.Batch{tallied(shop("s", "shop"), ramp(7, 100, -25, 35))}, "clock_offset", -20, "behind the generator's", false},
		{"a clock ahead", []*sample.Batch{tallied(shop("s", "shop"), ramp(7, 100, 25, 85))}, "clock_offset", 20, "ahead of the generator's", false},
		{"late work for those who left", []*sample.Batch{tallied(shop("s", "shop"), ramp(7, 100, 25, 85))}, "clock_offset", 0, "", true},
	} {
		rows := healthy()
		if c.timeouts {
			for i := range rows {
				if i%2 == 0 {
					rows[i].Outcome = sample.Timeout
				}
			}
		}
		ev := evidence(openLoop, rows, nil)
		ev.Servers = c.servers
		v := judge(t, ev, query.Options{})
		switch f := finding(v, c.code); {
		case c.value == 0 && f != nil:
			t.Errorf("%s: %s", c.name, f.Message)
		case c.value == 0:
		case f == nil:
			t.Errorf("%s: no %s in %+v", c.name, c.code, v.Findings)
		case math.Abs(*f.Value-c.value) > 0.02*math.Abs(c.value) || !strings.Contains(f.Message, c.says):
			t.Errorf("%s: %g (want %g): %s", c.name, *f.Value, c.value, f.Message)
		}
	}
}

// TestTimeOutsideOfTheServer: 30 ms at the client of which the service says that it
// took 20, or 5.
func TestTimeOutsideOfTheServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		serverS, rate float64
		want          bool
	}{{0.005, 100, true}, {0.02, 100, false}, {0.005, 120, false}} {
		b := tallied(shop("s", "shop"), ramp(0, c.rate, 0, 60))
		for i := range b.Points {
			b.Points[i].Value = float64(b.Points[i].Histogram.Count) * c.serverS
		}
		ev := evidence(openLoop, healthy(), nil)
		ev.Servers = []*sample.Batch{b}
		f := finding(judge(t, ev, query.Options{}), "time_outside_server")
		if c.want != (f != nil) || f != nil && (math.Abs(*f.Value-0.833) > 0.01 || !strings.Contains(f.Message, "5 ms of it at the service shop")) {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// TestLevelsOfTheGenerator loses spans, and finds it by the generator's own level
// at the same instants.
func TestLevelsOfTheGenerator(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	var all, kept []sample.Row
	for _, r := range healthy() {
		r.Done = r.Sent + 10*(r.Done-r.Sent) // thirty in flight
		all = append(all, r)
		if rng.IntN(10) > 2 {
			kept = append(kept, r)
		}
	}
	level := map[int64]float64{}
	for at := int64(5); at < 60; at += 5 {
		for _, r := range all {
			if r.Sent <= start+at*1e9 && start+at*1e9 < r.Done {
				level[at]++
			}
		}
	}
	gauge := sample.Series{Source: "gen", Name: "loadtest.requests.in_flight", Kind: sample.UpDown}
	for _, c := range []struct {
		name     string
		rows     []sample.Row
		ok       bool
		residual float64
	}{{"all spans", all, true, 0}, {"three tenths lost", kept, false, 0.3}} {
		ev := evidence(openLoop, c.rows, nil)
		b := metric(gauge, 0, level)
		b.RunID = ""
		ev.Batches = append(ev.Batches, b)
		v := judge(t, ev, query.Options{})
		l := v.Steps[0].LittlesLaw
		if l.OK == nil || *l.OK != c.ok || !l.Independent || l.Source != gauge.Name || len(l.Checks) != 1 || l.Checks[0].Samples != 11 {
			t.Fatalf("%s: %+v", c.name, l)
		}
		if math.Abs(*l.Residual-c.residual) > 0.06 {
			t.Errorf("%s: residual %g", c.name, *l.Residual)
		}
		f := finding(v, "littles_law_mismatch")
		if c.ok != (f == nil) || f != nil && (f.Severity != wire.Invalid || !strings.Contains(f.Message, "records are missing")) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestLevelsOfServers compares one-sidedly: what waits outside of the server is
// none of its, and what it has beyond the rows is a contradiction.
func TestLevelsOfServers(t *testing.T) {
	t.Parallel()
	active := sample.Series{Source: "s", Service: "shop", Name: "http.server.active_requests", Kind: sample.UpDown}
	at := func(v float64) map[int64]float64 {
		out := map[int64]float64{}
		for s := int64(5); s < 60; s += 5 {
			out[s] = v
		}
		return out
	}
	for _, c := range []struct {
		name    string
		level   float64
		timeout bool
		ok      bool
		says    string
	}{
		{"most wait outside", 1, false, true, ""},
		{"far more than the rows", 60, false, false, "others use it"},
		{"for those who left", 60, true, false, "whose clients gave up"},
	} {
		rows := healthy()
		for i := range rows {
			rows[i].Done = rows[i].Sent + 5*(rows[i].Done-rows[i].Sent)
			if c.timeout && i%4 == 0 {
				rows[i].Outcome = sample.Timeout
			}
		}
		ev := evidence(openLoop, rows, nil)
		ev.Servers = []*sample.Batch{metric(active, 0, at(c.level))}
		v := judge(t, ev, query.Options{})
		l := v.Steps[0].LittlesLaw
		if len(l.Checks) != 1 || l.Independent || !l.Checks[0].OneSided || *l.Checks[0].OK != c.ok || *l.Checks[0].Counted != c.level {
			t.Fatalf("%s: %+v", c.name, l)
		}
		f := finding(v, "server_in_flight")
		if c.ok != (f == nil) || f != nil && !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %+v", c.name, f)
		}
		ev.Servers = append(ev.Servers, metric(sample.Series{Source: "b", Service: "billing", Name: active.Name, Kind: sample.UpDown}, 0, at(80)))
		if v := judge(t, ev, query.Options{}); finding(v, "server_in_flight") != nil || len(v.Steps[0].LittlesLaw.Checks) != 2 {
			t.Errorf("%s: which of two services takes the requests is not known", c.name)
		}
	}
}

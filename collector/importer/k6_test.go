package importer

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// k6Script writes what k6 writes of a scenario.
type k6Script struct {
	b        strings.Builder
	metadata bool
	vu, iter int
	lines    []k6Stamped
}

type k6Stamped struct {
	at   int64
	text string
}

const k6Begin = int64(1796045615000000000)

func (s *k6Script) point(metric string, at int64, value float64, tags string) {
	meta := ""
	if s.metadata {
		meta = fmt.Sprintf(`,"metadata":{"vu":"%d","iter":"%d"}`, s.vu, s.iter)
	}
	s.lines = append(s.lines, k6Stamped{at, fmt.Sprintf(
		`{"metric":%q,"type":"Point","data":{"time":%q,"value":%v,"tags":{"scenario":"s"%s}%s}}`,
		metric, timeOf(k6Begin+at).Format("2006-01-02T15:04:05.999999999Z07:00"), value, tags, meta,
	)})
}

// request writes a request from from to to; blocked is part of it.
func (s *k6Script) request(name string, from, to int64, ok bool, more string) {
	status, expected := "200", "true"
	if !ok {
		status, expected = "500", "false"
	}
	tags := fmt.Sprintf(`,"name":%q,"method":"GET","status":%q,"expected_response":%q%s`, name, status, expected, more)
	const blocked = 1e5
	s.point("http_reqs", to, 1, tags)
	s.point("http_req_duration", to, float64(to-from-blocked)/1e6, tags)
	s.point("http_req_blocked", to, blocked/1e6, tags)
	s.point("http_req_receiving", to, 0.05, tags)
}

func (s *k6Script) iteration(from, to int64) {
	s.point("iteration_duration", to, float64(to-from)/1e6, "")
	s.point("iterations", to, 1, "")
}

// text puts the lines in order of time, as k6 hands them on.
func (s *k6Script) text() string {
	slices.SortStableFunc(s.lines, func(a, b k6Stamped) int { return int(a.at/1e3 - b.at/1e3) })
	for _, l := range s.lines {
		s.b.WriteString(l.text + "\n")
	}
	return s.b.String()
}

// A script of three requests with pauses, at 50 iterations a second.
func TestK6Journeys(t *testing.T) {
	t.Parallel()
	for _, metadata := range []bool{false, true} {
		s := k6Script{metadata: metadata}
		for i := range 500 {
			s.vu, s.iter = 1+i%40, i/40
			at := int64(i) * 20e6
			s.request("login", at+2e5, at+10e6, true, "")
			s.request("browse", at+303e6, at+320e6, true, "")
			s.request("buy", at+507e6, at+540e6, true, "")
			s.iteration(at, at+541e6)
		}
		s.metadata = false
		s.point("dropped_iterations", 4_001e6, 1, "")
		k, r, err := importText(t, "k6.json", s.text())
		if err != nil || r.Rows != 1500 || r.Dropped != 3 || k.groups[0].Model != sample.Open || r.Grade() != "C" {
			t.Fatalf("metadata %v: %+v, %v", metadata, r, err)
		}
		due := 0
		for _, row := range k.rows {
			if row.Intended != 0 {
				due++
				if row.Sent-row.Intended != 2e5 || row.Done-row.Sent != 98e5 {
					t.Fatalf("row %+v", row)
				}
			}
		}
		if due != 500 {
			t.Errorf("metadata %v: %d requests begin an iteration", metadata, due)
		}
	}
}

// Attempts are joined: one fails, the next one follows.
func TestK6Retries(t *testing.T) {
	t.Parallel()
	for _, metadata := range []bool{false, true} {
		s := k6Script{metadata: metadata}
		for i := range 300 {
			s.vu, s.iter = 1+i%40, i/40
			at := int64(i) * 20e6
			if i%3 == 0 {
				s.request("a", at+2e5, at+50e6, false, "")
				s.request("a", at+51e6, at+90e6, i%2 == 0, "")
				s.iteration(at, at+91e6)
			} else {
				s.request("a", at+2e5, at+50e6, true, "")
				s.iteration(at, at+51e6)
			}
		}
		k, r, err := importText(t, "k6.json", s.text())
		if err != nil || r.Rows != 400 {
			t.Fatalf("metadata %v: %+v, %v", metadata, r, err)
		}
		keys := map[uint64]int{}
		for _, row := range k.rows {
			if row.Key != 0 {
				keys[row.Key]++
				if last := row.Flags&sample.LastAttempt != 0; last != (row.Attempt == 1) || row.Intended == 0 {
					t.Errorf("row %+v", row)
				}
			}
		}
		if len(keys) != 100 {
			t.Errorf("metadata %v: %d requests had two attempts; %v", metadata, len(keys), r.Warnings)
		}
	}
}

func TestK6Executors(t *testing.T) {
	t.Parallel()
	check := func(what string, s *k6Script, model sample.Model, grade string) {
		t.Helper()
		k, r, err := importText(t, "k6.json", s.text())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := k.groups[0].Model; got != model || r.Grade() != grade {
			t.Errorf("%s: %v, grade %s, %v", what, got, r.Grade(), r.Warnings)
		}
	}
	// One VU after another, with a pause within the iteration.
	var closed k6Script
	for vu := range 7 {
		at := int64(vu) * 3e6
		for i := range 60 {
			end := at + 40e6 + int64((i*31+vu*17)%23)*1e6
			closed.request("a", at+1e5, end-20e6, true, "")
			closed.iteration(at, end)
			at = end + 4e4
		}
	}
	closed.point("dropped_iterations", 10_000e6, 40, "") // cut off by maxDuration
	check("closed", &closed, sample.Closed, "S")
	// A ramp, many at once.
	var ramp k6Script
	for i := range 3000 {
		at := int64(1e9 * (math.Sqrt(2500+2*100*float64(i)) - 50) / 100)
		ramp.request("a", at+1e5, at+7e6+int64(i*7919%5000)*1e3, true, "")
		ramp.iteration(at, at+7e6+int64(i*7919%5000)*1e3+5e4)
	}
	check("ramp", &ramp, sample.Open, "C")
	// 20,000/s: chance alone puts an end before every start.
	var fast k6Script
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		at, took := int64(i)*50e3, 3e6+rng.Int64N(1e6)
		fast.request("a", at+1e4, at+took, true, "")
		fast.iteration(at, at+took+1e4)
	}
	check("fast", &fast, sample.UnknownModel, "S")
	// No requests at all.
	var bare k6Script
	for i := range 100 {
		bare.iteration(int64(i)*10e6, int64(i)*10e6+3e6)
	}
	check("iterations", &bare, sample.Open, "C")
	// The script waits before its first request: that is no lateness.
	var patient k6Script
	for i := range 400 {
		at := int64(i) * 10e6
		patient.request("a", at+703e6, at+720e6, true, "")
		patient.iteration(at, at+721e6)
	}
	k, _, err := importText(t, "k6.json", patient.text())
	if err != nil || slices.ContainsFunc(k.rows, func(r sample.Row) bool { return r.Intended != 0 }) {
		t.Errorf("a script that waits: %v", err)
	}
}

// Requests of setup() are no load; lines of old versions have another order.
func TestK6Lines(t *testing.T) {
	t.Parallel()
	const old = `{"type":"Point","data":{"time":"2026-11-30T14:33:35.5+01:00","value":20,"tags":{"scenario":"s","status":"429","name":"a"}},"metric":"http_req_duration"}` + "\n"
	const setup = `{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-30T13:33:35.5Z","value":20,"tags":{"group":"::setup","status":"200"}}}` + "\n"
	const grpc = `{"metric":"grpc_req_duration","type":"Point","data":{"time":"2026-11-30T13:33:35.6Z","value":2.5,"tags":{"scenario":"s","status":"14","name":"Get\u002fIt"}}}` + "\n"
	k, r, err := importText(t, "k6.json", old+setup+grpc+`{"type":"Metric","data":{"name":"x"},"metric":"x"}`+"\n"+`{"metric":"vus","type":"Point"}`+"\n")
	if err != nil || r.Rows != 2 || r.Bad != 1 || r.FirstBad != "line 5: "+errPoint.Error() {
		t.Fatalf("%+v, %v", r, err)
	}
	if a, b := k.rows[0], k.rows[1]; a.Outcome != sample.Shed || a.Done != k6Begin+500e6 || a.Done-a.Sent != 20e6 || b.Outcome != sample.Shed {
		t.Errorf("rows %+v", k.rows)
	}
	whole := bytes.Repeat(k6Whole(), 50)
	_, r, err = importText(t, "k6.json", string(whole[:len(whole)-100]))
	if err != nil || !r.Torn || r.Rows != 50 {
		t.Errorf("cut off: %+v, %v", r, err)
	}
}

// CSV with exact times says what JSON says.
func TestK6EncodingsAgree(t *testing.T) {
	t.Parallel()
	want, _ := importFile(t, "k6/f-overload-return.json.zst")
	var b strings.Builder
	b.WriteString("metric_name,timestamp,metric_value,error_code,expected_response,method,name,scenario,status,extra_tags,metadata\n")
	var p k6Line
	p.clock = &clock{}
	for line := range bytes.Lines(contents(t, "k6/f-overload-return.json.zst")) {
		if point, err := p.read(bytes.TrimSpace(line)); err != nil || !point {
			continue
		}
		name := map[k6Metric]string{k6Duration: "http_req_duration", k6Iteration: "iteration_duration", k6Dropped: "dropped_iterations", k6VUs: "vus"}[p.metric]
		expected, extra := "", ""
		if p.tags.expected != 0 {
			expected = map[byte]string{'t': "true", 'f': "false"}[p.tags.expected]
			extra = fmt.Sprintf("attempt=%d", p.tags.attempt)
		}
		fmt.Fprintf(&b, "%s,%d,%f,%d,%s,%s,\"%s\",%s,%d,%s,\n", name, p.time, p.value, p.tags.errorCode, expected, p.tags.method, p.tags.name, p.tags.scenario, p.tags.status, extra)
	}
	k, r, err := importText(t, "f-overload-return.json", b.String())
	if err != nil || r.Format != "k6-csv" || r.Bad != 0 || len(k.rows) != len(want.rows) {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, row := range k.rows {
		w := want.rows[i]
		row.Key, w.Key = 0, 0
		if row != w {
			t.Fatalf("row %d: %+v, want %+v", i, row, w)
		}
	}
}

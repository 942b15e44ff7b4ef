package otlp

import (
	"math"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/internal/captured"
)

const (
	traceA                     = "000102030405060708090a0b0c0d0e0f"
	spanA, spanB, spanC, spanD = "0a00000000000001", "0b00000000000002", "0c00000000000003", "0d00000000000004"
)

// client is a client span that takes 5 ms.
func client(id, parent string, attrs ...any) testSpan {
	return testSpan{trace: traceA, id: id, parent: parent, name: "GET", kind: 3, start: base, end: base + 5e6, attrs: attrs}
}

func decodeRows(t *testing.T, resource []any, scope string, spans ...testSpan) ([]flatRow, *Report) {
	t.Helper()
	d := NewDecoder(testTable(t))
	batches, err := d.Traces(request(resource, scope, spans...))
	if err != nil {
		t.Fatal(err)
	}
	return flatten(batches), d.Report()
}

func TestRow(t *testing.T) {
	t.Parallel()
	s := client(spanA, spanB, "loadtest.intended_time_unix_nano", base-3, "loadtest.arrival.index", 7, "http.response.status_code", 503,
		"http.status_code", 200, "http.request.resend_count", 2, "loadtest.request.id", "q", "loadtest.attempt.last", true,
		"loadtest.scenario", "browse", "loadtest.step", "s1", "loadtest.deadline", 1.5, "gen_ai.response.time_to_first_chunk", 0.001)
	s.state = "vendor=1, ot=rv:ab;th:c"
	rows, _ := decodeRows(t, []any{
		"service.name", "load", "service.namespace", "shop", "service.instance.id", "i", "loadtest.generator", "gen",
		"loadtest.arrival.model", "open", "loadtest.arrival.process", "poisson", "loadtest.arrival.rate", 50, "loadtest.expected_interval", 0.1,
	}, "s", s)
	want := []flatRow{{
		Group: sample.Group{
			Source: "shop/load@i", Generator: "gen", Scenario: "browse", Step: "s1", Deadline: 15e8, ExpectedInterval: 1e8, Rate: 50,
			Model: sample.Open, Process: "poisson",
		},
		Row: sample.Row{
			Sent: base, Done: base + 5e6, FirstByte: base + 1e6, Intended: base - 3, Index: 7, Attempt: 2, Key: hashBytes([]byte("q")),
			Self: hashSpan(id(traceA), id(spanA)), Outcome: sample.Shed, Status: 503, Flags: sample.LastAttempt | sample.RequestKey | sample.Sampled,
		},
	}}
	if d := gocmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}

func TestSimplestRow(t *testing.T) {
	t.Parallel()
	rows, _ := decodeRows(t, nil, "my.scope", client(spanA, ""))
	want := []flatRow{{
		Group: sample.Group{Source: "unknown_service", Generator: "my.scope"},
		Row:   sample.Row{Sent: base, Done: base + 5e6, Index: sample.NoIndex},
	}}
	if d := gocmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}

// TestNesting checks that client layers around a request count once and leave
// what they say to the innermost.
func TestNesting(t *testing.T) {
	t.Parallel()
	key := func(span string) uint64 { return hashSpan(id(traceA), id(span)) }
	outer := client(spanA, "", "loadtest.request.id", "q", "loadtest.intended_time_unix_nano", base-9, "loadtest.scenario", "outer",
		"loadtest.arrival.index", 4, "loadtest.run.id", "r")
	middle := client(spanB, spanA, "loadtest.scenario", "middle")
	inner := client(spanC, spanB, "loadtest.arrival.index", 5)
	for _, spans := range [][]testSpan{{outer, middle, inner}, {inner, middle, outer}, {middle, inner, outer}} {
		rows, report := decodeRows(t, []any{"service.name", "load"}, "s", spans...)
		want := []flatRow{{
			Run: "r", Group: sample.Group{Source: "load", Generator: "load", Scenario: "middle"},
			Row: sample.Row{Sent: base, Done: base + 5e6, Intended: base - 9, Index: 5, Key: hashBytes([]byte("q")), Self: key(spanC), Flags: sample.RequestKey},
		}}
		if d := gocmp.Diff(want, rows); d != "" {
			t.Error(d)
		}
		if report.Count(Nested) != 2 || report.Rejected() != 0 || report.Message() != "" {
			t.Errorf("%+v", report)
		}
	}

	// Two requests under one span that is no client: neither is nested.
	internal := testSpan{trace: traceA, id: spanD, kind: 1, start: base, end: base + 1}
	rows, report := decodeRows(t, nil, "s", internal, client(spanA, spanD), client(spanB, spanD))
	if len(rows) != 2 || rows[0].Row.Key != key(spanD) || rows[1].Row.Key != key(spanD) || rows[0].Row.Self != 0 || report.Count(NotARequest) != 1 {
		t.Errorf("%+v", rows)
	}
	// The parent came in another request: only later can it be told.
	rows, _ = decodeRows(t, nil, "s", client(spanA, spanD), client(spanB, ""))
	for _, r := range rows {
		if r.Row.Self == 0 {
			t.Errorf("row without a name of its own: %+v", r)
		}
	}
	// A span that claims to be its own parent, and two that claim each other.
	if rows, _ = decodeRows(t, nil, "s", client(spanA, spanA)); len(rows) != 1 {
		t.Errorf("%+v", rows)
	}
	if rows, report = decodeRows(t, nil, "s", client(spanA, spanB), client(spanB, spanA)); len(rows) != 0 || report.Count(Nested) != 2 {
		t.Errorf("%+v %+v", rows, report)
	}
}

// TestModels reads spans of clients of language models: the operation is the
// request, whatever HTTP requests it takes, and a server's own spans are points.
func TestModels(t *testing.T) {
	t.Parallel()
	key := func(span string) uint64 { return hashSpan(id(traceA), id(span)) }
	agent := client(spanD, "", "gen_ai.operation.name", "invoke_agent")
	chat := client(spanA, spanD, "gen_ai.operation.name", "chat", "gen_ai.usage.output_tokens", 128, "gen_ai.response.time_to_first_chunk", 0.002)
	http := client(spanB, spanA, "http.response.status_code", 200)
	layer := client(spanC, spanB)
	layer.end = base + 2e6
	want := []flatRow{{
		Group: sample.Group{Source: "load", Generator: "load"},
		Row: sample.Row{
			Sent: base, Done: base + 5e6, FirstByte: base + 2e6, Index: sample.NoIndex, Key: key(spanD), Self: key(spanA),
			Flags: sample.Operation, Tokens: 128,
		},
	}}
	for _, spans := range [][]testSpan{{agent, chat, http, layer}, {layer, http, chat, agent}} {
		rows, report := decodeRows(t, []any{"service.name", "load"}, "s", spans...)
		if d := gocmp.Diff(want, rows); d != "" || report.Count(Nested) != 3 {
			t.Errorf("%d nested: %s", report.Count(Nested), d)
		}
	}
	// Its parts came in another request: they can be told from it later.
	rows, _ := decodeRows(t, nil, "s", chat)
	parts, _ := decodeRows(t, nil, "s", http)
	if len(rows) != 1 || len(parts) != 1 || rows[0].Row.Self == 0 || parts[0].Row.Key != rows[0].Row.Self {
		t.Errorf("%+v %+v", rows, parts)
	}
	for _, names := range []string{"gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "llm.token_count.completion", "loadtest.output_tokens"} {
		if rows, _ := decodeRows(t, nil, "s", client(spanA, "", names, 7)); rows[0].Row.Tokens != 7 {
			t.Errorf("%s: %+v", names, rows[0].Row)
		}
	}
	for _, tokens := range []any{0, -1, "x", 1.5} {
		if rows, _ := decodeRows(t, nil, "s", client(spanA, "", "gen_ai.usage.output_tokens", tokens)); rows[0].Row.Tokens != 0 {
			t.Errorf("%v tokens: %+v", tokens, rows[0].Row)
		}
	}

	served := func(queued, all float64) testSpan {
		s := client(spanA, "", "gen_ai.latency.time_in_queue", queued, "gen_ai.latency.e2e", all, "gen_ai.usage.completion_tokens", 5)
		s.kind, s.name = 2, "llm_request"
		return s
	}
	d := NewDecoder(testTable(t))
	later := served(0.25, 1.5)
	later.start, later.end = base+1e9, base+3e9
	batches, err := d.Traces(request([]any{"service.name", "vllm-server"}, "vllm.llm_engine", served(0.5, 2), later))
	if err != nil {
		t.Fatal(err)
	}
	point := func(name string, sum, low, high float64) flatPoint {
		return flatPoint{
			Run: sample.Telemetry, Series: sample.Series{Source: "vllm-server", Service: "vllm-server", Scope: "vllm.llm_engine", Name: name, Unit: "s", Kind: sample.DeltaHisto},
			Point: sample.Point{Start: base, Time: base + 3e9, Value: sum, Histogram: &sample.Distribution{Count: 2, Min: low, Max: high}},
		}
	}
	points := []flatPoint{point("gen_ai.latency.e2e", 3.5, 1.5, 2), point("gen_ai.latency.time_in_queue", 0.75, 0.25, 0.5)}
	if diff := gocmp.Diff(points, flattenPoints(batches)); diff != "" || d.Report().Rows != 0 || d.Report().Points != 2 {
		t.Errorf("%+v %s", d.Report(), diff)
	}
}

// TestPartsOfRequests leaves out the spans of what a request is made of.
func TestPartsOfRequests(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	trace := request(nil, "go.opentelemetry.io/otel/instrumentation/httptrace", client(spanB, spanA), client(spanC, spanA))
	body := append(request(nil, "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", client(spanA, "")), trace...)
	batches, err := d.Traces(body)
	if err != nil {
		t.Fatal(err)
	}
	if rows := flatten(batches); len(rows) != 1 || d.Report().Count(NotARequest) != 2 || d.Report().Count(Nested) != 0 {
		t.Errorf("%+v %+v", rows, d.Report())
	}
}

// TestSkippedUsers turns users that Artillery did not start into requests.
func TestSkippedUsers(t *testing.T) {
	t.Parallel()
	counter := func(name string, v int64) func(e *encoder) {
		return func(e *encoder) {
			e.str(1, name).msg(dataSum, func(e *encoder) {
				e.varint(2, temporalityDelta).varint(3, 1)
				e.msg(1, func(e *encoder) {
					e.fixed(2, uint64(base)).fixed(3, uint64(base+1e6)).fixed(6, uint64(v))
					e.attr(7, "startTime", base/1e6-11_000).attr(7, "endTime", base/1e6-1_001)
				})
			})
		}
	}
	d := NewDecoder(convention.Default())
	for _, c := range []struct{ created, requests, want int64 }{{40, 120, 30}, {40, 20, 10}, {0, 0, 10}} {
		batches, err := d.Metrics(wrap("Artillery.io_metrics", []any{"service.name", "a"},
			counter("vusers.skipped", 10), counter("vusers.created", c.created), counter("http.requests", c.requests)))
		if err != nil {
			t.Fatal(err)
		}
		var got []flatPoint
		for _, p := range flattenPoints(batches) {
			if p.Series.Name == "loadtest.arrivals.dropped" {
				got = append(got, p)
			}
		}
		if len(got) != 1 || got[0].Point.Value != float64(c.want) || got[0].Point.Time != base-1e9 || got[0].Point.Start != base-11e9 || got[0].Run != "" {
			t.Errorf("%d requests of %d users: %+v, want %d dropped", c.requests, c.created, got, c.want)
		}
	}
	// Without such users nothing is added.
	batches, err := d.Metrics(wrap("Artillery.io_metrics", nil, counter("vusers.created", 4)))
	if err != nil || len(flattenPoints(batches)) != 1 {
		t.Errorf("%v %v", flattenPoints(batches), err)
	}
}

// TestLoops checks what known generators cannot do otherwise.
func TestLoops(t *testing.T) {
	t.Parallel()
	for service, want := range map[string]sample.Model{"locust": sample.Closed, "mine": sample.UnknownModel} {
		if rows, _ := decodeRows(t, []any{"service.name", service}, "s", client(spanA, "")); rows[0].Group.Model != want {
			t.Errorf("%s: %v", service, rows[0].Group.Model)
		}
	}
	rows, _ := decodeRows(t, []any{"service.name", "locust", "loadtest.arrival.model", "open"}, "s", client(spanA, ""))
	if rows[0].Group.Model != sample.Open {
		t.Errorf("what the resource says is not believed: %+v", rows[0].Group)
	}
	if rows, _ = decodeRows(t, nil, "artillery-http", client(spanA, "")); rows[0].Group.Model != sample.Open {
		t.Errorf("artillery: %+v", rows[0].Group)
	}
}

func TestSampledState(t *testing.T) {
	t.Parallel()
	check := func(state string, want bool) {
		t.Helper()
		if got := sampledState([]byte(state)); got != want {
			t.Errorf("%q: %v", state, got)
		}
	}
	check("", false)
	check("ot=th:0", false)
	check("ot=th:8", true)
	check("a=b, ot=rv:0123;th:fd7", true)
	check("ot=p:0;r:3", false)
	check("ot=p:2;r:3", true)
	check("not=th:8", false)
	check("ot=", false)
	check(",,;=", false)
}

func TestException(t *testing.T) {
	t.Parallel()
	s := client(spanA, "", "error.type", "*url.Error")
	s.status, s.event, s.eventAt = 2, "exception", base
	check := func(want sample.Outcome, attrs ...any) {
		t.Helper()
		s.eventAttrs = attrs
		if rows, _ := decodeRows(t, nil, "s", s); rows[0].Row.Outcome != want {
			t.Errorf("%v: %v, want %v", attrs, rows[0].Row.Outcome, want)
		}
	}
	check(sample.Error)
	check(sample.Error, "exception.message", "connection refused")
	check(sample.Timeout, "exception.type", "java.net.SocketTimeoutException")
	check(sample.Timeout, "exception.type", "Error", "exception.message", "ETIMEDOUT")
	check(sample.Cancelled, "exception.message", "context canceled")
}

// TestArtilleryTimeouts reads time-outs that only an exception event tells.
func TestArtilleryTimeouts(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	count := map[sample.Outcome]int{}
	for _, body := range captured.Exports(t, filepath.Join("testdata", "artillery-grpc", "otlp.traces.pb.gz")) {
		decodeLikeOracle(t, d, "otlp.traces.pb.gz", body)
		for _, r := range flatten(d.router.Batches()) {
			count[r.Row.Outcome]++
		}
	}
	// 630 of 2100 scenarios were sampled, and 63 % of the requests timed out.
	if share := float64(count[sample.Timeout]) / 630; math.Abs(share-1319.0/2100) > 0.05 || count[sample.Error] != 0 {
		t.Errorf("%v: %.2f timed out", count, share)
	}
}

// TestMetricRouting checks where points go and what they are called.
func TestMetricRouting(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	seeds := metricSeeds()
	got := func(body []byte) map[string]string {
		t.Helper()
		if _, err := d.Metrics(body); err != nil {
			t.Fatal(err)
		}
		runs := map[string]string{}
		for _, p := range flattenPoints(d.router.Batches()) {
			runs[p.Series.Name+"{"+p.Series.Attributes+"}"] = p.Run
		}
		return runs
	}
	check := func(name string, body []byte, want map[string]string) {
		t.Helper()
		if diff := gocmp.Diff(want, got(body)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	const vus = `vus{a=3,b=x\,y,testid=r}`
	check("a generator's own scope", seeds[1], map[string]string{
		vus: "r", "loadtest.requests.in_flight{}": "", "h{k=true}": "", "e{k=2.5}": "",
	})
	if r := d.Report(); r.Points != 4 || r.Count(NoRecordedData) != 1 || r.Count(NoTemporality) != 1 || r.Count(Summary) != 1 {
		t.Errorf("%+v", r)
	}
	check("a server", seeds[2], map[string]string{
		vus: sample.Telemetry, "plimsoll.role.in_flight:my.in.flight{}": sample.Telemetry, "h{k=true}": sample.Telemetry, "e{k=2.5}": sample.Telemetry,
	})
	check("a resource with a run", seeds[3], map[string]string{"loadtest.requests.in_flight{}": "r", "h{k=true}": "r"})
}

func TestPoints(t *testing.T) {
	t.Parallel()
	d := NewDecoder(convention.Default())
	if _, err := d.Metrics(metricSeeds()[1]); err != nil {
		t.Fatal(err)
	}
	series := func(name, attributes, run string, kind sample.Kind) flatPoint {
		return flatPoint{Run: run, Series: sample.Series{
			Source: "k6", Service: "k6", Scope: "k6", Name: name, Attributes: attributes, Unit: "s", Kind: kind,
		}}
	}
	gauge := series("vus", `a=3,b=x\,y,testid=r`, "r", sample.Gauge)
	gauge.Point = sample.Point{Time: base, Value: 1.5}
	sum := series("my.in.flight", "", "", sample.UpDown)
	sum.Point = sample.Point{Start: base - 1e9, Time: base, Value: 7}
	h := series("h", "k=true", "", sample.Histogram)
	h.Point = sample.Point{Start: base - 1e9, Time: base, Value: 9, Histogram: &sample.Distribution{
		Count: 6, Min: 0.1, Max: 5, Bounds: []float64{1, 2}, Buckets: []uint64{1, 2, 3},
	}}
	e := series("e", "k=2.5", "", sample.DeltaHisto)
	e.Point = sample.Point{Start: base - 1e9, Time: base, Value: math.NaN(), Histogram: &sample.Distribution{
		Count: 6, Min: math.NaN(), Max: math.NaN(), Buckets: []uint64{1, 2, 3}, Exponential: true, Scale: -3, Offset: -2, Zero: 1,
	}}
	want := []flatPoint{gauge, sum, h, e}
	sortPoints(want)
	if diff := gocmp.Diff(want, flattenPoints(d.router.Batches()), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// TestExactNumbers checks that JSON numbers beyond 2^53 keep every digit.
func TestExactNumbers(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	batches, err := d.TracesJSON([]byte(jsonSeeds[0]))
	if err != nil {
		t.Fatal(err)
	}
	rows := flatten(batches)
	if len(rows) != 1 || rows[0].Row.Sent != base+1 || rows[0].Row.Done != base+2 || rows[0].Row.Intended != base+3 ||
		rows[0].Row.Outcome != sample.Timeout || rows[0].Group.Source != "café 😀" {
		t.Errorf("%+v", rows)
	}
}

func TestTranscodeErrors(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	span := func(s string) string { return `{"resourceSpans":[{"scopeSpans":[{"spans":[{` + s + `}]}]}]}` }
	check := func(body string, ok bool) {
		t.Helper()
		if _, err := d.TracesJSON([]byte(body)); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
	check(span(`"kind":"SPAN_KIND_CLIENT"`), true)
	check(span(`"kind":"3"`), true)
	check(span(`"kind":"SPAN_KIND_NONE"`), false)
	check(span(`"startTimeUnixNano":1.8e18`), false) // not exact
	check(span(`"startTimeUnixNano":1e15`), true)
	check(span(`"startTimeUnixNano":-1`), false)
	check(span(`"startTimeUnixNano":true`), false)
	check(span(`"traceId":"zz"`), false)
	check(span(`"traceId":"00"`), false)
	check(span(`"name":"a\qb"`), false)
	check(span(`"name":"a\u12"`), false)
	check(span("\"name\":\"a\nb\""), false)
	check(span(`"name":"\ud83d\ude00\ud83d"`), true)
	check(span(`"name":3`), false)
	check(span(`"attributes":{}`), false)
	check(span(`"attributes":[{"key":"a","value":{"bytesValue":"-_8="}}]`), true)
	check(span(`"attributes":[{"key":"a","value":{"bytesValue":"*"}}]`), false)
	check(span(`"status":{"code":1}`), true)
	check(span(`"x":tru`), false)
	check(span(`"x":nul`), false)
	check(span(`"x"`), false)
	check(`{"a":1}{"b":2}`, false)
	check(`{"a":1,}`, false)
	check(` { } `, true)
}

package otlp

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/plimsoll/plimsoll/collector/convention"
)

// testTable maps a few names so that mapped attributes are compared as well.
func testTable(t testing.TB) *convention.Table {
	t.Helper()
	m, err := convention.ParseMapping([]byte(`
attributes: {loadgen.intended_start: loadtest.intended_time_unix_nano, loadgen.scenario: loadtest.scenario}
metrics: {orders.queue.depth: queue, my.in.flight: in_flight}
`))
	if err != nil {
		t.Fatal(err)
	}
	return convention.New(m)
}

// compareTraces checks the rows of a request against the oracle's.
func compareTraces(t *testing.T, d *Decoder, table *convention.Table, td ptrace.Traces) {
	t.Helper()
	o := oracle{table: table}
	o.read(td)
	got := flatten(d.router.Batches())
	if diff := gocmp.Diff(o.rows, got); diff != "" {
		t.Fatalf("rows differ from the full decoder's (-want +got):\n%s", diff)
	}
	if n := d.Report().Rejected(); n != o.refused {
		t.Fatalf("%d refused, want %d: %s", n, o.refused, d.Report().Message())
	}
}

// hasGroup reports whether a message may hold a group, which the full decoder
// reads in a way of its own. It errs on the side of yes.
func hasGroup(b []byte, depth int) bool {
	if depth > 12 {
		return false
	}
	r := reader{b: b}
	for r.next() {
		switch r.wire {
		case wireStart, wireEnd:
			return true
		case wireLen:
			if hasGroup(r.bytes(), depth+1) {
				return true
			}
		default:
			r.skip()
		}
	}
	return false
}

func FuzzTraces(f *testing.F) {
	for _, body := range seeds(f) {
		f.Add(body)
	}
	table := testTable(f)
	d := NewDecoder(table)
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 || hasGroup(body, 0) {
			return
		}
		_, err := d.Traces(body)
		req := ptraceotlp.NewExportRequest()
		switch oerr := req.UnmarshalProto(body); {
		case oerr != nil:
			// The full decoder also looks into what is passed over here.
		case err != nil:
			t.Fatalf("refused a valid request: %v", err)
		default:
			compareTraces(t, d, table, req.Traces())
		}
	})
}

func FuzzTracesJSON(f *testing.F) {
	for _, body := range seeds(f) {
		req := ptraceotlp.NewExportRequest()
		if err := req.UnmarshalProto(body); err == nil {
			if b, err := req.MarshalJSON(); err == nil {
				f.Add(b)
			}
		}
	}
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	table := testTable(f)
	d := NewDecoder(table)
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		_, err := d.TracesJSON(body)
		if !json.Valid(body) {
			return
		}
		req := ptraceotlp.NewExportRequest()
		switch oerr := req.UnmarshalJSON(body); {
		case oerr != nil:
		case errors.Is(err, errDepth):
		case errors.Is(err, errMember): // the oracle takes {"kind":{}} for no kind; we say what is wrong
		case err != nil:
			t.Fatalf("refused a valid request: %v", err)
		default:
			compareTraces(t, d, table, req.Traces())
		}
	})
}

var jsonSeeds = []string{
	`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"caf\u00e9 \ud83d\ude00"}}]},"scopeSpans":[{"spans":[` +
		`{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0001020304050607","kind":3,"startTimeUnixNano":1800000000000000001,` +
		`"endTimeUnixNano":"1800000000000000002","status":{"code":"STATUS_CODE_ERROR","message":"timeout"},"unknown":[1,{"a":null}],` +
		`"attributes":[{"key":"loadgen.intended_start","value":{"intValue":1800000000000000003}},{"key":"x","value":{"arrayValue":{"values":[{"kvlistValue":{}}]}}}]}]}]}]}`,
	`{"resource_spans":[{"scope_spans":[{"spans":[{"trace_id":"","kind":"SPAN_KIND_CLIENT","start_time_unix_nano":"1800000000000000001","end_time_unix_nano":1800000000000000002}]}]}]}`,
	`{"resourceSpans":null}`, `null`, `{}`, `[]`, `{"resourceSpans":[null]}`,
}

// seeds are requests of all kinds, small enough to be varied.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	const trace, a, b, c = "000102030405060708090a0b0c0d0e0f", "0000000000000001", "0000000000000002", "0000000000000003"
	span := func(id, parent string, kind int, attrs ...any) testSpan {
		return testSpan{trace: trace, id: id, parent: parent, name: "GET", kind: kind, start: base, end: base + 5e6, attrs: attrs}
	}
	res := []any{"service.name", "load", "host.name", "h", "process.pid", 7}
	timeout := span(a, "", 3, "http.method", "GET")
	timeout.status, timeout.event, timeout.eventAt, timeout.eventAttrs = 2, "exception", base+1, []any{"exception.type", "ETIMEDOUT"}
	first := span(b, c, 3, "http.status_code", "200", "loadtest.run.name", "n", "loadtest.step", "s", "loadtest.deadline", 2.5)
	first.state, first.event, first.eventAt = "x=y,ot=th:8;rv:1", "http.receive.start", base+2
	return [][]byte{
		nil,
		sdkRequest(3, 9),
		request(res, "s", span(a, "", 3), span(b, a, 3, "loadtest.scenario", "x"), span(c, b, 1), span("0000000000000004", c, 3)),
		request(res, "artillery-http", span(b, a, 3, "test_id", "t", "response.time.ms", 3), span(a, "", 3, "test_id", "t")),
		request(append(res, "loadtest.run.id", "r", "loadtest.arrival.model", "closed"), "k6", timeout, first),
		request(nil, "", testSpan{kind: 3, start: base, end: base}, testSpan{kind: 3}, testSpan{kind: 3, start: 5, end: 6}, testSpan{kind: 3, start: base, end: base - 1}),
		request(res, "s", span(a, a, 3, "loadtest.request.id", "q", "loadtest.attempt.last", true, "http.request.resend_count", 2,
			"rpc.grpc.status_code", 14, "loadtest.arrival.index", 12, "loadtest.intended_time_unix_nano", base-1, "sampling.probability", 0.5)),
		request(res, "s", span(a, "", 3, "gen_ai.operation.name", "chat", "gen_ai.usage.output_tokens", 9), span(b, a, 3), span(c, b, 3, "llm.usage.completion_tokens", 3)),
		request(res, "go.opentelemetry.io/contrib/instrumentation/net/http/httptrace/otelhttptrace", span(a, "", 3), span(b, a, 3)),
	}
}

func FuzzMetrics(f *testing.F) {
	for _, body := range metricSeeds() {
		f.Add(body)
	}
	d := NewDecoder(testTable(f))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 || hasGroup(body, 0) {
			return
		}
		_, err := d.Metrics(body)
		req := pmetricotlp.NewExportRequest()
		switch oerr := req.UnmarshalProto(body); {
		case oerr != nil:
		case err != nil:
			t.Fatalf("refused a valid request: %v", err)
		case !structured(req.Metrics()):
			compareMetrics(t, d, req.Metrics())
		}
	})
}

func FuzzMetricsJSON(f *testing.F) {
	for _, body := range metricSeeds() {
		req := pmetricotlp.NewExportRequest()
		if err := req.UnmarshalProto(body); err == nil {
			if b, err := req.MarshalJSON(); err == nil {
				f.Add(b)
			}
		}
	}
	f.Add([]byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"dataPoints":[{"timeUnixNano":1800000000000000001,"asDouble":"NaN"},{"timeUnixNano":"1800000000000000001","asInt":9007199254740993}]}}]}]}]}`))
	d := NewDecoder(testTable(f))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		_, err := d.MetricsJSON(body)
		if !json.Valid(body) {
			return
		}
		req := pmetricotlp.NewExportRequest()
		switch oerr := req.UnmarshalJSON(body); {
		case oerr != nil:
		case errors.Is(err, errDepth):
		case errors.Is(err, errMember): // as for traces
		case err != nil:
			t.Fatalf("refused a valid request: %v", err)
		case !structured(req.Metrics()):
			compareMetrics(t, d, req.Metrics())
		}
	})
}

// structured reports whether a point has an attribute with a structured value,
// whose text is our own business.
func structured(md pmetric.Metrics) bool {
	b, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
	return err != nil || bytes.Contains(b, []byte("arrayValue")) || bytes.Contains(b, []byte("kvlistValue"))
}

// metricSeeds are requests with points of all kinds.
func metricSeeds() [][]byte {
	times := func(e *encoder) *encoder { return e.fixed(2, uint64(base-1e9)).fixed(3, uint64(base)) }
	number := func(fn func(e *encoder)) func(e *encoder) {
		return func(e *encoder) { e.msg(1, func(e *encoder) { fn(times(e)) }) }
	}
	metric := func(name string, data int, fn func(e *encoder)) func(e *encoder) {
		return func(e *encoder) { e.str(1, name).str(3, "s").msg(data, fn) }
	}
	packed := func(v ...uint64) []byte {
		var b []byte
		for _, n := range v {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		return b
	}
	all := []func(e *encoder){
		metric("vus", dataGauge, number(func(e *encoder) { e.fixed(4, f64(1.5)).attr(7, "b", "x,y").attr(7, "a", 3).attr(7, "testid", "r") })),
		metric("my.in.flight", dataSum, func(e *encoder) {
			number(func(e *encoder) { e.fixed(6, 7) })(e)
			e.varint(2, 2).varint(3, 0)
		}),
		metric("d", dataSum, func(e *encoder) {
			e.varint(2, 1).varint(3, 1)
			number(func(e *encoder) { e.fixed(6, 7).varint(8, 1) })(e)
		}),
		metric("none", dataSum, number(func(e *encoder) { e.fixed(4, f64(math.NaN())) })),
		metric("h", dataHistogram, func(e *encoder) {
			e.varint(2, 2)
			number(func(e *encoder) {
				e.fixed(4, 6).fixed(5, f64(9)).bytes(6, packed(1, 2, 3)).bytes(7, packed(f64(1), f64(2))).attr(9, "k", true).fixed(11, f64(0.1)).fixed(12, f64(5))
			})(e)
		}),
		metric("e", dataExponential, func(e *encoder) {
			e.varint(2, 1)
			number(func(e *encoder) {
				e.attr(1, "k", 2.5).fixed(4, 6).varint(6, 5).fixed(7, 1).msg(8, func(e *encoder) { e.varint(1, 3).bytes(2, []byte{1, 2, 3}) })
				e.msg(9, func(e *encoder) { e.bytes(2, []byte{0}) })
			})(e)
		}),
		metric("s", dataSummary, number(func(e *encoder) { e.fixed(4, 3) })),
	}
	return [][]byte{
		nil,
		wrap("k6", []any{"service.name", "k6"}, all...),
		wrap("orders", []any{"service.name", "orders", "service.instance.id", "1"}, all...),
		wrap("otelgen", []any{"service.name", "load", "loadtest.run.id", "r"}, all[1], all[4]),
	}
}

// wrap encodes metrics of one resource and scope, which come last.
func wrap(scope string, resource []any, metrics ...func(e *encoder)) []byte {
	var e encoder
	e.msg(1, func(e *encoder) {
		e.msg(2, func(e *encoder) {
			for _, m := range metrics {
				e.msg(2, m)
			}
			e.msg(1, func(e *encoder) { e.str(1, scope) })
		})
		e.msg(1, func(e *encoder) {
			for i := 0; i < len(resource); i += 2 {
				e.attr(1, resource[i].(string), resource[i+1])
			}
		})
	})
	return e.b
}

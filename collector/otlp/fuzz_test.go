package otlp

import (
	"encoding/json"
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
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
	got := flatten(d.router.batches())
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
	}
}

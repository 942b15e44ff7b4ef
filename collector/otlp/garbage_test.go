package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/journal"
)

const exportTraces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// zeros returns a gzip stream that inflates to n zero bytes.
func zeros(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// alive checks that the server still receives what is right.
func (ts *testServer) alive(t testing.TB) {
	t.Helper()
	before := len(ts.sink.rows)
	body := sdkRequest(3, uint64(before)+77)
	if code, _, answer := ts.post(t, "/v1/traces", typeProtobuf, "", body); code != 200 {
		t.Fatalf("the server is broken: %d %q", code, answer)
	}
	if n := len(ts.sink.rows) - before; n != 3 {
		t.Fatalf("%d rows of 3", n)
	}
}

func TestGarbageHTTP(t *testing.T) {
	t.Parallel()
	ts := startServer(t, func(c *Config) { c.MaxBody = 1 << 20 })
	good := sdkRequest(10, 1)
	check := func(name, path, contentType, encoding string, body []byte, want int, words string) {
		t.Helper()
		code, header, answer := ts.post(t, path, contentType, encoding, body)
		text := string(answer)
		if strings.HasPrefix(contentType, typeJSON) && want != 200 {
			var st struct {
				Code    int
				Message string
			}
			if err := json.Unmarshal(answer, &st); err != nil || st.Code == 0 || header.Get("Content-Type") != typeJSON {
				t.Errorf("%s: answer %q: %v", name, answer, err)
			}
			text = st.Message
		} else if want != 200 {
			var st spb.Status
			if err := proto.Unmarshal(answer, &st); err != nil || st.Code == 0 || header.Get("Content-Type") != typeProtobuf {
				t.Errorf("%s: answer %q: %v", name, answer, err)
			}
			text = st.Message
		}
		if code != want || !strings.Contains(text, words) {
			t.Errorf("%s: %d %q, want %d and %q", name, code, text, want, words)
		}
		ts.alive(t)
	}
	for n := range 100 {
		if code, _, _ := ts.post(t, "/v1/traces", typeProtobuf, "", good[:len(good)-1-n*7]); code != 400 && code != 200 {
			t.Fatalf("truncated by %d: %d", 1+n*7, code)
		}
	}
	check("truncated", "/v1/traces", typeProtobuf, "", good[:len(good)-1], 400, "truncated")
	check("not protobuf", "/v1/traces", typeProtobuf, "", []byte("hello, world"), 400, "malformed")
	check("not json", "/v1/traces", typeJSON, "", []byte("hello"), 400, "at byte 0")
	check("truncated json", "/v1/metrics", typeJSON, "", []byte(`{"resourceMetrics":[{`), 400, "malformed JSON")
	check("deep json", "/v1/traces", typeJSON, "", []byte(strings.Repeat(`{"x":[`, 100_000)), 400, "nested too deeply")
	check("json with charset", "/v1/traces", typeJSON+"; charset=utf-8", "", []byte(`{}`), 200, "{}")
	check("empty protobuf", "/v1/traces", typeProtobuf, "", nil, 200, "")
	check("empty metrics", "/v1/metrics", typeProtobuf, "", nil, 200, "")
	check("empty gzip", "/v1/traces", typeProtobuf, "gzip", compress(t, "gzip", nil), 200, "")
	check("oversized", "/v1/traces", typeProtobuf, "", make([]byte, 1<<20+1), 413, "larger than")
	check("gzip bomb", "/v1/traces", typeProtobuf, "gzip", zeros(t, 24<<20), 413, "larger than")
	check("zstd bomb", "/v1/traces", typeProtobuf, "zstd", compress(t, "zstd", make([]byte, 24<<20)), 413, "larger than")
	check("not gzip", "/v1/traces", typeProtobuf, "gzip", good, 400, "read body")
	check("truncated gzip", "/v1/traces", typeProtobuf, "gzip", compress(t, "gzip", good)[:50], 400, "read body")
	check("truncated zstd", "/v1/traces", typeProtobuf, "zstd", compress(t, "zstd", good)[:50], 400, "read body")
	check("identity", "/v1/traces", typeProtobuf, "identity", good, 200, "")
	check("unknown encoding", "/v1/traces", typeProtobuf, "br", good, 415, "encoding")
	check("two encodings", "/v1/traces", typeProtobuf, "gzip, gzip", good, 415, "encoding")
	check("wrong type", "/v1/traces", "text/plain", "", good, 415, "content type")
	check("no type", "/v1/traces", "", "", good, 415, "content type")
	check("logs", "/v1/logs", typeProtobuf, "", good, 404, "only /v1/traces")

	res, err := http.Get(ts.http + "/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d, allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
	if held := ts.server.metrics.inFlight.Load(); held != 0 {
		t.Errorf("%d bytes are still accounted for", held)
	}
}

func TestGarbageGRPC(t *testing.T) {
	t.Parallel()
	ts := startServer(t, func(c *Config) { c.MaxBody = 1 << 20 })
	c := ts.dial(t)
	check := func(name string, body []byte, want codes.Code, options ...grpc.CallOption) {
		t.Helper()
		out := new([]byte)
		err := c.Invoke(t.Context(), exportTraces, &body, out, append(options, grpc.ForceCodec(rawCodec{}))...)
		if got := status.Code(err); got != want {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		ts.alive(t)
	}
	good := sdkRequest(10, 1)
	check("good", good, codes.OK)
	check("empty", nil, codes.OK)
	check("truncated", good[:len(good)-1], codes.InvalidArgument)
	check("not protobuf", []byte("hello, world"), codes.InvalidArgument)
	check("oversized", make([]byte, 1<<20+1), codes.ResourceExhausted)
	check("bomb", make([]byte, 24<<20), codes.ResourceExhausted, grpc.UseCompressor("gzip"))
	check("zstd bomb", make([]byte, 24<<20), codes.ResourceExhausted, grpc.UseCompressor("zstd"))
	if _, err := plogotlp.NewGRPCClient(c).Export(t.Context(), plogotlp.NewExportRequest()); status.Code(err) != codes.Unimplemented {
		t.Errorf("logs: %v", err)
	}
	if held := ts.server.metrics.inFlight.Load(); held != 0 {
		t.Errorf("%d bytes are still accounted for", held)
	}
}

// TestRefusedSpans checks that spans that cannot be rows are named and counted.
func TestRefusedSpans(t *testing.T) {
	t.Parallel()
	ts := startServer(t, nil)
	year := func(y int) int64 { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano() }
	send := func(spans ...testSpan) (*ptraceotlp.ExportPartialSuccess, []flatRow) {
		t.Helper()
		ts.sink.rows = nil
		code, _, answer := ts.post(t, "/v1/traces", typeProtobuf, "", request([]any{"service.name", "load"}, "s", spans...))
		res := ptraceotlp.NewExportResponse()
		if err := res.UnmarshalProto(answer); err != nil || code != 200 {
			t.Fatalf("answer %d %q: %v", code, answer, err)
		}
		p := res.PartialSuccess()
		return &p, ts.sink.rows
	}
	check := func(name string, s testSpan, rejected int64, words string) {
		t.Helper()
		s.name, s.kind = name, max(s.kind, 3)
		p, rows := send(s, testSpan{name: "good", kind: 3, start: base, end: base + int64(len(name))})
		if p.RejectedSpans() != rejected || !strings.Contains(p.ErrorMessage(), words) || len(rows) != 2-int(rejected) {
			t.Errorf("%s: %d rejected, %d rows, %q; want %q", name, p.RejectedSpans(), len(rows), p.ErrorMessage(), words)
		}
	}
	check("no times", testSpan{}, 1, `span "no times": it has no start or end time (1 no_time)`)
	check("no end", testSpan{start: base}, 1, "1 no_time")
	check("backwards", testSpan{start: base, end: base - 1}, 1, "1 clock_step")
	check("1970", testSpan{start: 1e9, end: 2e9}, 1, "1 bad_time")
	check("2099", testSpan{start: year(2099), end: year(2099) + 1}, 0, "")
	check("2101", testSpan{start: year(2101), end: year(2101) + 1}, 1, "1 bad_time")
	check("negative", testSpan{start: -5, end: -4}, 1, "1 bad_time")
	check("intended in ms", testSpan{start: base, end: base + 9, attrs: []any{"loadtest.intended_time_unix_nano", base / 1e6}}, 0, "1 bad_intended_time")
	check("name with \x00\u202e", testSpan{}, 1, "name with \ufffd\ufffd")

	var many []any
	for i := range 100_000 {
		many = append(many, fmt.Sprintf("attribute.%d", i), "x")
	}
	check("100000 attributes", testSpan{start: base, end: base + 1, attrs: many}, 0, "")
	huge := strings.Repeat("é", 1<<19)
	check("1 MiB values", testSpan{start: base, end: base + 1, attrs: []any{"loadtest.scenario", huge, "loadtest.run.id", huge, "url.full", huge}}, 0, "")
	for _, r := range ts.sink.rows {
		if len(r.Run) > 200 || len(r.Group.Scenario) > 200 {
			t.Errorf("a name of %d bytes was kept", max(len(r.Run), len(r.Group.Scenario)))
		}
	}

	var runs, groups []testSpan
	for i := range batch.MostRuns + 10 {
		runs = append(runs, testSpan{kind: 3, start: base, end: base + 1, attrs: []any{"loadtest.run.id", fmt.Sprint("r", i)}})
	}
	ts.sink.rows = nil
	if code, _, answer := ts.post(t, "/v1/traces", typeProtobuf, "", request([]any{"service.name", "load"}, "s", runs...)); code != 400 ||
		len(ts.sink.rows) != 0 || !strings.Contains(string(answer), "more than 256 runs") {
		t.Errorf("too many runs: %d %q, %d rows kept", code, answer, len(ts.sink.rows))
	}
	for i := range batch.MostGroups + 10 {
		groups = append(groups, testSpan{kind: 3, start: base, end: base + 1, attrs: []any{"loadtest.scenario", fmt.Sprint("s", i)}})
	}
	if p, rows := send(groups...); p.RejectedSpans() != 10 || len(rows) != batch.MostGroups || !strings.Contains(p.ErrorMessage(), "10 too_many_groups") {
		t.Errorf("%d rejected, %d rows: %s", p.RejectedSpans(), len(rows), p.ErrorMessage())
	}
	if p, rows := send(testSpan{kind: 2, start: base, end: base + 2}, testSpan{kind: 1}); p.RejectedSpans() != 0 || len(rows) != 0 || p.ErrorMessage() != "" {
		t.Errorf("spans of other kinds: %d rejected, %d rows: %s", p.RejectedSpans(), len(rows), p.ErrorMessage())
	}
	if n := ts.set.GetOrCreateCounter(`plimsoll_otlp_rejected_total{reason="no_time"}`).Get(); n != 3 {
		t.Errorf("%d counted without time", n)
	}
	if n := ts.set.GetOrCreateCounter(`plimsoll_otlp_passed_over_total{reason="not_a_request"}`).Get(); n != 2 {
		t.Errorf("%d counted as not a request", n)
	}
	ts.alive(t)
}

// TestTooManySpans bounds what one request can make of few bytes.
func TestTooManySpans(t *testing.T) {
	t.Parallel()
	var e encoder
	e.msg(1, func(e *encoder) {
		e.msg(2, func(e *encoder) {
			for range maxSpans + 7 {
				e.bytes(2, nil)
			}
		})
	})
	d := NewDecoder(testTable(t))
	if _, err := d.Traces(e.b); err != nil {
		t.Fatal(err)
	}
	if r := d.Report(); r.Count(TooManySpans) != 7 || r.Count(NotARequest) != maxSpans || !d.Oversized() {
		t.Errorf("%+v", r)
	}
}

func TestJSONAnswer(t *testing.T) {
	t.Parallel()
	ts := startServer(t, nil)
	body := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"kind":3,"name":"a"}]}]}]}`
	code, header, answer := ts.post(t, "/v1/traces", typeJSON, "", []byte(body))
	want := `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"span \"a\": it has no start or end time (1 no_time)"}}`
	if code != 200 || header.Get("Content-Type") != typeJSON || string(answer) != want {
		t.Errorf("%d %s", code, answer)
	}
	body = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","summary":{"dataPoints":[{},{}]}}]}]}]}`
	code, _, answer = ts.post(t, "/v1/metrics", typeJSON, "", []byte(body))
	want = `{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"point of \"a\": summaries cannot be merged; send a histogram (2 summary)"}}`
	if code != 200 || string(answer) != want {
		t.Errorf("%d %s", code, answer)
	}
}

// TestSinkRefuses checks what senders are told when the sink refuses.
func TestSinkRefuses(t *testing.T) {
	t.Parallel()
	ts := startServer(t, nil)
	body, out := sdkRequest(4, 1), new([]byte)
	call := func() error {
		return ts.dial(t).Invoke(t.Context(), exportTraces, &body, out, grpc.ForceCodec(rawCodec{}))
	}
	check := func(err error, wantCode codes.Code) {
		t.Helper()
		ts.sink.err = err
		code, header, _ := ts.post(t, "/v1/traces", typeProtobuf, "", body)
		if code != 503 || header.Get("Retry-After") != "1" {
			t.Errorf("%v: %d, retry after %q", err, code, header.Get("Retry-After"))
		}
		st := status.Convert(call())
		if st.Code() != wantCode || len(st.Details()) != 1 {
			t.Fatalf("%v: %v %v", err, st, st.Details())
		}
		if info, ok := st.Details()[0].(*errdetails.RetryInfo); !ok || info.RetryDelay.AsDuration() != time.Second {
			t.Errorf("%v: details %v", err, st.Details())
		}
	}
	check(fmt.Errorf("append: %w", journal.ErrFull), codes.ResourceExhausted)
	check(journal.ErrClosed, codes.Unavailable)
	ts.sink.err, ts.sink.receipt = nil, journal.Receipt{Rejected: 2, Message: "too old"}
	res := ptraceotlp.NewExportResponse()
	if err := call(); err != nil {
		t.Fatal(err)
	}
	if err := res.UnmarshalProto(*out); err != nil || res.PartialSuccess().RejectedSpans() != 2 || res.PartialSuccess().ErrorMessage() != "too old" {
		t.Errorf("%v %d %q", err, res.PartialSuccess().RejectedSpans(), res.PartialSuccess().ErrorMessage())
	}
}

// TestBusy checks that what would take too much memory is asked to come back.
func TestBusy(t *testing.T) {
	t.Parallel()
	ts := startServer(t, func(c *Config) { c.MaxBody, c.MaxInFlight = 1<<20, 1<<20 })
	if !ts.server.metrics.reserve(1<<20-100, 1<<20) {
		t.Fatal("no room at all")
	}
	body, out := sdkRequest(64, 1), new([]byte)
	code, header, _ := ts.post(t, "/v1/traces", typeProtobuf, "", body)
	if code != 503 || header.Get("Retry-After") == "" {
		t.Errorf("%d, retry after %q", code, header.Get("Retry-After"))
	}
	c := ts.dial(t)
	if err := c.Invoke(t.Context(), exportTraces, &body, out, grpc.ForceCodec(rawCodec{})); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	ts.server.metrics.release(1<<20 - 100)
	ts.alive(t)
	for range cap(ts.server.running) {
		ts.server.running <- struct{}{}
	}
	if err := c.Invoke(t.Context(), exportTraces, &body, out, grpc.ForceCodec(rawCodec{})); status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	for range cap(ts.server.running) {
		<-ts.server.running
	}
	if err := c.Invoke(t.Context(), exportTraces, &body, out, grpc.ForceCodec(rawCodec{})); err != nil {
		t.Error(err)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	ts := startServer(t, func(c *Config) { c.Token = "s3cret" })
	body, out := sdkRequest(2, 1), new([]byte)
	c := ts.dial(t)
	check := func(header string, ok bool) {
		t.Helper()
		var headers []string
		ctx := t.Context()
		if header != "" {
			headers = []string{"Authorization", header}
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", header)
		}
		want, wantCode := codes.Unauthenticated, 401
		if ok {
			want, wantCode = codes.OK, 200
		}
		if code, h, _ := ts.post(t, "/v1/traces", typeProtobuf, "", body, headers...); code != wantCode || !ok && h.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q over HTTP: %d", header, code)
		}
		if err := c.Invoke(ctx, exportTraces, &body, out, grpc.ForceCodec(rawCodec{})); status.Code(err) != want {
			t.Errorf("%q over gRPC: %v", header, err)
		}
	}
	check("", false)
	check("Bearer wrong", false)
	check("Basic s3cret", false)
	check("s3cret", false)
	check("Bearer s3cret", true)
	check("bearer s3cret", true)
}

// TestConnections closes connections beyond the limit at once.
func TestConnections(t *testing.T) {
	t.Parallel()
	ts := startServer(t, func(c *Config) { c.MaxConnections = 1 })
	address := strings.TrimPrefix(ts.http, "http://")
	first := dialTCP(t, address)
	second := dialTCP(t, address)
	if _, err := second.Read(make([]byte, 1)); err == nil {
		t.Error("the second connection is served")
	}
	if n := ts.set.GetOrCreateCounter("plimsoll_otlp_connections_refused_total").Get(); n != 1 {
		t.Errorf("%d refused connections counted", n)
	}
	_ = first.Close()
}

func TestRunIdentity(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	check := func(name string, resource, span []any, want string) {
		t.Helper()
		batches, err := d.Traces(request(append([]any{"service.name", "load"}, resource...), "s", testSpan{kind: 3, start: base, end: base + 1, attrs: span}))
		if err != nil || len(batches) != 1 || batches[0].RunID != want || batches[0].Groups[0].Source != "load" {
			t.Errorf("%s: %+v, %v; want run %q", name, batches, err, want)
		}
	}
	check("none", nil, nil, "")
	check("resource", []any{"loadtest.run.id", "a"}, nil, "a")
	check("span before resource", []any{"loadtest.run.id", "a"}, []any{"loadtest.run.id", "b"}, "b")
	check("name before alias", []any{"loadtest.run.id", "a"}, []any{"test_id", "b"}, "a")
	check("aliases in order", nil, []any{"run.id", "d", "test.run.id", "c", "testid", "b", "test_id", "a"}, "a")
	check("alias", []any{"run.id", "r"}, nil, "r")
	check("reserved", nil, []any{"loadtest.run.id", sample.Telemetry}, "\ufffdtelemetry")

	batches, err := d.Traces(request([]any{"service.name", "load"}, "s",
		testSpan{kind: 3, start: base, end: base + 1, attrs: []any{"loadtest.run.id", "a"}},
		testSpan{kind: 3, start: base, end: base + 1, attrs: []any{"loadtest.run.id", "b"}},
		testSpan{kind: 3, start: base, end: base + 1}))
	if err != nil || len(batches) != 3 {
		t.Errorf("spans of three runs came in %d batches: %v", len(batches), err)
	}
}

package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	grpcgzip "google.golang.org/grpc/encoding/gzip"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/internal/captured"
)

// fakeSink keeps rows in memory.
type fakeSink struct {
	mu      sync.Mutex
	ids     map[journal.ID]int
	rows    []flatRow
	points  []flatPoint
	err     error
	receipt journal.Receipt
	hold    chan struct{} // when set, Accept waits for it
}

func (s *fakeSink) Accept(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return journal.Receipt{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return journal.Receipt{}, s.err
	}
	if s.ids == nil {
		s.ids = map[journal.ID]int{}
	}
	if s.ids[id]++; s.ids[id] > 1 {
		return journal.Receipt{Duplicate: true}, nil
	}
	s.rows = append(s.rows, flatten(batches)...)
	s.points = append(s.points, flattenPoints(batches)...)
	return s.receipt, nil
}

// testServer is a server on loopback.
type testServer struct {
	sink       *fakeSink
	server     *Server
	set        *metrics.Set
	grpc, http string
	stop       func() error
}

func startServer(t testing.TB, change func(*Config)) *testServer {
	t.Helper()
	ts := &testServer{sink: &fakeSink{}, set: metrics.NewSet()}
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	var err error
	ts.server, err = New(cfg, ts.sink, testTable(t), time.Now, slog.New(slog.DiscardHandler), NewMetrics(ts.set))
	if err != nil {
		t.Fatal(err)
	}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	g, h := listen(), listen()
	ts.grpc, ts.http = g.Addr().String(), "http://"+h.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ts.server.Serve(ctx, g, h) }()
	ts.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := ts.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return ts
}

func compress(t testing.TB, encoding string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zstd":
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return b
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// post sends a body and returns the status, headers and answer.
func (ts *testServer) post(t testing.TB, path, contentType, encoding string, body []byte, header ...string) (int, http.Header, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.http+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, out
}

func (ts *testServer) dial(t testing.TB, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(ts.grpc, append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestReplay sends what real generators sent, over every transport, and finds
// the percentiles that the generators found themselves.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, run := range []string{"otelgen-http", "otelgen-stall", "otelgen-workers"} {
		want := readExpectation(t, run)
		bodies := captured.Exports(t, filepath.Join("testdata", run, "otlp.traces.pb.gz"))
		for _, encoding := range []string{"", "gzip", "zstd"} {
			t.Run(run+"/http/"+encoding, func(t *testing.T) {
				t.Parallel()
				ts := startServer(t, nil)
				for _, body := range bodies {
					if code, _, answer := ts.post(t, "/v1/traces", typeProtobuf, encoding, compress(t, encoding, body)); code != 200 || len(answer) != 0 {
						t.Fatalf("answer %d %q", code, answer)
					}
				}
				want.check(t, ts.sink.rows)
			})
		}
		for name, call := range map[string][]grpc.CallOption{
			"identity": nil, "gzip": {grpc.UseCompressor(grpcgzip.Name)}, "zstd": {grpc.UseCompressor("zstd")},
		} {
			t.Run(run+"/grpc/"+name, func(t *testing.T) {
				t.Parallel()
				ts := startServer(t, nil)
				client := ptraceotlp.NewGRPCClient(ts.dial(t))
				for _, body := range bodies {
					req := ptraceotlp.NewExportRequest()
					if err := req.UnmarshalProto(body); err != nil {
						t.Fatal(err)
					}
					res, err := client.Export(t.Context(), req, call...)
					if err != nil || res.PartialSuccess().RejectedSpans() != 0 {
						t.Fatalf("%v %v", res, err)
					}
				}
				want.check(t, ts.sink.rows)
			})
		}
	}
}

// TestSameID checks that a request has one identity whatever it came by, and
// that traces and metrics never share one.
func TestSameID(t *testing.T) {
	t.Parallel()
	ts := startServer(t, nil)
	body := sdkRequest(5, 1)
	for _, encoding := range []string{"", "gzip", "zstd"} {
		ts.post(t, "/v1/traces", typeProtobuf, encoding, compress(t, encoding, body))
	}
	var raw rawCodec
	out := new([]byte)
	if err := ts.dial(t).Invoke(t.Context(), exportTraces, &body, out,
		grpc.ForceCodec(raw), grpc.UseCompressor("gzip")); err != nil {
		t.Fatal(err)
	}
	if len(ts.sink.ids) != 1 || len(ts.sink.rows) != 5 {
		t.Errorf("%d ids, %d rows", len(ts.sink.ids), len(ts.sink.rows))
	}
	if identify(traces, body) == identify(points, body) {
		t.Error("traces and metrics share an id")
	}
	if n := ts.set.GetOrCreateCounter("plimsoll_otlp_rows_total").Get(); n != 5 {
		t.Errorf("%d rows counted", n)
	}
	if n := ts.set.GetOrCreateCounter(`plimsoll_otlp_requests_total{signal="traces",transport="http",result="duplicate"}`).Get(); n != 2 {
		t.Errorf("%d duplicates counted", n)
	}
}

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string                       { return "proto" }
func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }

// TestStop checks that a request that is being handled is answered when the
// server stops, and that Serve then returns.
func TestStop(t *testing.T) {
	t.Parallel()
	ts := startServer(t, nil)
	ts.sink.hold = make(chan struct{})
	type answer struct {
		code int
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		res, err := http.Post(ts.http+"/v1/traces", typeProtobuf, bytes.NewReader(sdkRequest(2, 3)))
		if err != nil {
			answers <- answer{0, err}
			return
		}
		answers <- answer{res.StatusCode, res.Body.Close()}
	}()
	for ts.server.metrics.inFlight.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- ts.stop() }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a request in flight: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(ts.sink.hold)
	if a := <-answers; a.code != 200 || a.err != nil {
		t.Errorf("answer %d, %v", a.code, a.err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", ts.grpc); err == nil {
		t.Error("the listener is still open")
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server, client := certificate(t)
	ts := startServer(t, func(c *Config) { c.TLS = server })
	body, out := sdkRequest(3, 1), new([]byte)
	conn, err := grpc.NewClient(ts.grpc, grpc.WithTransportCredentials(credentials.NewTLS(client)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Invoke(t.Context(), exportTraces, &body, out, grpc.ForceCodec(rawCodec{})); err != nil {
		t.Error(err)
	}
	transport := &http.Transport{TLSClientConfig: client}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Post("https"+strings.TrimPrefix(ts.http, "http")+"/v1/traces", typeProtobuf, bytes.NewReader(sdkRequest(3, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != 200 || len(ts.sink.rows) != 6 {
		t.Errorf("%d, %d rows", res.StatusCode, len(ts.sink.rows))
	}
}

func TestServeError(t *testing.T) {
	t.Parallel()
	s, err := New(DefaultConfig(), &fakeSink{}, convention.Default(), time.Now, slog.New(slog.DiscardHandler), NewMetrics(metrics.NewSet()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := s.Serve(t.Context(), nil, l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	if err := (&Config{}).Validate(); err == nil {
		t.Error("an empty configuration is valid")
	}
}

func BenchmarkHTTP(b *testing.B) {
	for _, encoding := range []string{"", "gzip", "zstd"} {
		b.Run("encoding="+encoding, func(b *testing.B) {
			ts := startServer(b, nil)
			ts.server.sink = nullSink{}
			body := compress(b, encoding, sdkRequest(512, 1))
			b.ReportAllocs()
			for b.Loop() {
				if code, _, _ := ts.post(b, "/v1/traces", typeProtobuf, encoding, body); code != 200 {
					b.Fatal(code)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/span")
		})
	}
}

func BenchmarkGRPC(b *testing.B) {
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		b.Run("encoding="+encoding, func(b *testing.B) {
			ts := startServer(b, nil)
			ts.server.sink = nullSink{}
			body, out := sdkRequest(512, 1), new([]byte)
			options := []grpc.CallOption{grpc.ForceCodec(rawCodec{})}
			if encoding != "identity" {
				options = append(options, grpc.UseCompressor(encoding))
			}
			c := ts.dial(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Invoke(b.Context(), exportTraces, &body, out, options...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/span")
		})
	}
}

// nullSink keeps nothing.
type nullSink struct{}

func (nullSink) Accept(context.Context, journal.ID, []*sample.Batch) (journal.Receipt, error) {
	return journal.Receipt{}, nil
}

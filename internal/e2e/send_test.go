package e2e_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	grpcgzip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"

	"github.com/plimsoll/plimsoll/internal/captured"
)

// export is one export request, encoded.
type export struct {
	metrics bool
	body    []byte
}

// sender sends export requests over one wire.
type sender interface {
	send(ctx context.Context, e export) error
}

type httpSender struct {
	addr string
	zip  bool
}

func (h httpSender) send(ctx context.Context, e export) error {
	path := "/v1/traces"
	if e.metrics {
		path = "/v1/metrics"
	}
	body := e.body
	if h.zip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = b.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.addr+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if h.zip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return nil
}

type grpcSender struct {
	conn *grpc.ClientConn
	opts []grpc.CallOption
}

func newGRPC(t testing.TB, addr string, zip bool) grpcSender {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := grpcSender{conn: conn}
	if zip {
		s.opts = append(s.opts, grpc.UseCompressor(grpcgzip.Name))
	}
	return s
}

func (g grpcSender) send(ctx context.Context, e export) error {
	if e.metrics {
		var req metricspb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(e.body, &req); err != nil {
			return err
		}
		_, err := metricspb.NewMetricsServiceClient(g.conn).Export(ctx, &req, g.opts...)
		return err
	}
	var req tracepb.ExportTraceServiceRequest
	if err := proto.Unmarshal(e.body, &req); err != nil {
		return err
	}
	resp, err := tracepb.NewTraceServiceClient(g.conn).Export(ctx, &req, g.opts...)
	if err == nil && resp.GetPartialSuccess().GetRejectedSpans() > 0 {
		err = fmt.Errorf("rejected: %v", resp.GetPartialSuccess())
	}
	return err
}

// capture reads the traces of a capture.
func capture(t testing.TB, name string) []export {
	t.Helper()
	return framed(t, filepath.Join("../../collector/otlp/testdata", name, "otlp.traces.pb.gz"))
}

// framed reads export requests from a file.
func framed(t testing.TB, path string) (out []export) {
	t.Helper()
	for _, body := range captured.Exports(t, path) {
		out = append(out, export{body: body})
	}
	return out
}

// Command sidecar measures what a server beside a generator costs: it exports
// spans at a rate, in real time, as an SDK's batch processor does, and reads what
// the process has computed and held.
//
//	go run ./internal/bench/sidecar -program bin/plimsoll -rate 5000 -for 60s
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/plimsoll/plimsoll/collector/loadtest"
	"github.com/plimsoll/plimsoll/internal/program"
)

// exportSpans is how many spans an SDK's batch processor sends at once.
const exportSpans = 512

func main() {
	path := flag.String("program", "bin/plimsoll", "the built server")
	rate := flag.Float64("rate", 5000, "spans a second")
	length := flag.Duration("for", time.Minute, "length of the run")
	flag.Parse()
	if err := measure(context.Background(), *path, *rate, *length, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sidecar:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, path string, rate float64, length time.Duration, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "sidecar-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	srv, err := program.Serve(ctx, path, dir, os.Stderr, "--log-level", "warn")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Stop()) }()
	rng := rand.New(rand.NewPCG(1, 2))
	start := time.Now()
	before, err := cpu(srv.Pid())
	if err != nil {
		return err
	}
	every := time.Duration(exportSpans / rate * float64(time.Second))
	sent := 0
	for at := every; at <= length; at += every {
		time.Sleep(time.Until(start.Add(at)))
		if err := export(ctx, srv, start.Add(at-every), every, sent, rng); err != nil {
			return err
		}
		sent += exportSpans
	}
	wall := time.Since(start)
	after, err := cpu(srv.Pid())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d spans in %.1f s (%.0f/s): %.2f %% of one core, at most %.1f MiB resident\n", sent, wall.Seconds(),
		float64(sent)/wall.Seconds(), 100*(after-before).Seconds()/wall.Seconds(), float64(peak(srv.Pid()))/1024)
	return nil
}

// export sends the spans of a stretch of time.
func export(ctx context.Context, srv *program.Server, from time.Time, length time.Duration, n int, rng *rand.Rand) error {
	spans := make([]*tracev1.Span, exportSpans)
	for i := range spans {
		sent := from.Add(length * time.Duration(i) / exportSpans).UnixNano()
		id := make([]byte, 16)
		binary.BigEndian.PutUint64(id[8:], uint64(n+i+1))
		spans[i] = &tracev1.Span{
			TraceId: id, SpanId: id[8:], Name: "GET /orders", Kind: tracev1.Span_SPAN_KIND_CLIENT,
			StartTimeUnixNano: uint64(sent), EndTimeUnixNano: uint64(sent + int64(25e6*math.Exp(0.5*rng.NormFloat64()))),
			Attributes: []*commonpb.KeyValue{
				number(loadtest.IntendedTimeKey, sent), text("http.request.method", "GET"), text("url.full", "http://orders.example/orders"),
				text("server.address", "orders.example"), number("http.response.status_code", 200),
			},
		}
	}
	body, err := proto.Marshal(&tracepb.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
			text("service.name", "load"), text(loadtest.RunIDKey, "sidecar"), text(loadtest.ArrivalModelKey, loadtest.ModelOpen),
			text(loadtest.ArrivalProcessKey, loadtest.ProcessConstant),
		}},
		ScopeSpans: []*tracev1.ScopeSpans{{Spans: spans}},
	}}})
	if err != nil {
		return err
	}
	_, err = program.Do(ctx, http.MethodPost, "http://"+srv.OTLPHTTP+"/v1/traces", "application/x-protobuf", body)
	return err
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

// cpu is the time that a process has computed.
func cpu(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("read the process: too few fields")
	}
	var ticks int64
	for _, f := range fields[11:13] { // user and system time
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil
}

// peak is the most memory that a process has held, in KiB; 0 when unknown.
func peak(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n
		}
	}
	return 0
}

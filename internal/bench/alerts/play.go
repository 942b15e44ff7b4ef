package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/collector/loadtest"
	"github.com/plimsoll/plimsoll/internal/program"
)

// What every run offers, and when its service changes.
const (
	perS     = 100.0
	workers  = 4
	calmLoad = 0.7
	patience = 2.0 // of clients, seconds
	lostAt   = 60 * time.Second
	backAt   = 120 * time.Second
	length   = 240 * time.Second

	healthyLength = 30 * time.Minute
)

// play is one run.
type play struct {
	id       string
	start    time.Time
	length   time.Duration
	realTime bool
	requests []sim.Request // in order of their ends; times from the start
	back     time.Duration // from the start until the service answers in time again
}

func newPlay(c config, seed uint64) *play {
	p := &play{id: fmt.Sprintf("run-%g-%d", c.rho, seed), length: length, realTime: true}
	server := sim.Server{Service: sim.Exponential(), Servers: workers, MeanS: workers * calmLoad / perS}
	server.Factor = func(t float64) float64 {
		if t >= lostAt.Seconds() && t < backAt.Seconds() {
			return c.rho / calmLoad
		}
		return 1
	}
	if c.healthy {
		p.id, p.length, p.realTime = fmt.Sprintf("healthy-%d", seed), healthyLength, false
		server.MeanS, server.Factor = workers*c.load/perS, nil
		server.StopAtS, server.StopS = healthyLength.Seconds()/2, c.stop.Seconds()
	}
	p.requests = sim.Run(sim.Config{
		Steps:    []sim.Step{{RatePerS: perS, DurationS: p.length.Seconds()}},
		Arrivals: sim.Constant(), Server: server, Client: sim.Client{TimeoutS: patience},
	}, rand.New(rand.NewPCG(seed, 20261130)))
	p.back = backAt
	for i := range p.requests {
		if q := &p.requests[i]; q.Outcome == sample.Timeout {
			p.back = max(p.back, time.Duration(q.Intended))
		}
	}
	slices.SortStableFunc(p.requests, func(a, b sim.Request) int { return cmp.Compare(a.Done, b.Done) })
	return p
}

// run declares the run and exports what ends in each second, at the end of it.
func (p *play) run(ctx context.Context, srv *program.Server) error {
	p.start = time.Now()
	if !p.realTime {
		p.start = p.start.Add(-p.length)
	}
	timeout := patience
	body, err := json.Marshal(wire.Declaration{
		ID: p.id, Name: p.id, Start: &p.start, TimeoutS: &timeout, Arrival: &wire.Arrival{Model: "open", Process: "constant"},
		Steps: []wire.DeclareStep{{Name: "steady", RatePerS: perS, DurationS: p.length.Seconds()}},
	})
	if err != nil {
		return err
	}
	if _, err := srv.Call(ctx, http.MethodPost, "/api/v1/runs", body); err != nil {
		return err
	}
	i := 0
	for second := time.Second; i < len(p.requests); second += time.Second {
		if p.realTime {
			time.Sleep(time.Until(p.start.Add(second)))
		}
		from := i
		for i < len(p.requests) && p.requests[i].Done < int64(second) {
			i++
		}
		if from == i {
			continue
		}
		if err := p.export(ctx, srv, p.requests[from:i], from); err != nil {
			return err
		}
	}
	if !p.realTime {
		time.Sleep(2 * time.Second) // the last looks
	}
	_, err = srv.Call(ctx, http.MethodPost, "/api/v1/runs/"+p.id+"/finish", nil)
	return err
}

func (p *play) export(ctx context.Context, srv *program.Server, requests []sim.Request, from int) error {
	spans := make([]*tracev1.Span, len(requests))
	for k := range requests {
		spans[k] = p.span(&requests[k], uint64(from+k+1))
	}
	body, err := proto.Marshal(&tracepb.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
			text("service.name", "load"), text(loadtest.RunIDKey, p.id), text(loadtest.RunNameKey, p.id),
			text(loadtest.ArrivalModelKey, loadtest.ModelOpen), text(loadtest.ArrivalProcessKey, loadtest.ProcessConstant),
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

func whole(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

func (p *play) span(q *sim.Request, n uint64) *tracev1.Span {
	at := func(ns int64) uint64 { return uint64(p.start.UnixNano() + ns) }
	id := make([]byte, 16)
	binary.BigEndian.PutUint64(id[8:], n)
	s := &tracev1.Span{
		TraceId: id, SpanId: id[8:], Name: "GET", Kind: tracev1.Span_SPAN_KIND_CLIENT,
		StartTimeUnixNano: at(q.Sent), EndTimeUnixNano: at(q.Done),
		Attributes: []*commonpb.KeyValue{whole(loadtest.IntendedTimeKey, p.start.UnixNano()+q.Intended)},
	}
	switch q.Outcome {
	case sample.OK:
		s.Attributes = append(s.Attributes, whole("http.response.status_code", 200))
	case sample.Timeout:
		s.Attributes = append(s.Attributes, text("error.type", "timeout"))
		s.Status = &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR}
	default:
		s.Attributes = append(s.Attributes, text("error.type", "error"))
		s.Status = &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR}
	}
	return s
}

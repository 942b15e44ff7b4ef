package otlp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/durationpb"
)

// maxStreams is the number of requests that one gRPC connection may have open.
const maxStreams = 100

// A window that holds a usual export (512 spans of 400 bytes) whole, and a
// buffer that takes several frames at a time: fewer updates and system calls.
const (
	window     = 512 << 10
	readBuffer = 128 << 10
)

// grpcServer returns a server for the two export services. Calls of others, such
// as logs, are answered with UNIMPLEMENTED.
func (s *Server) grpcServer() *grpc.Server {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(int(s.cfg.MaxBody)),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(4 * window),
		grpc.ReadBufferSize(readBuffer),
		grpc.InTapHandle(s.tap),
		grpc.WaitForHandlers(true),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: s.cfg.IdleTimeout, Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}
	if s.cfg.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.cfg.TLS)))
	}
	server := grpc.NewServer(options...)
	for name, sig := range map[string]signal{
		"opentelemetry.proto.collector.trace.v1.TraceService":     traces,
		"opentelemetry.proto.collector.metrics.v1.MetricsService": points,
	} {
		server.RegisterService(&grpc.ServiceDesc{
			ServiceName: name, HandlerType: (*any)(nil),
			Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: s.export(sig)}},
		}, s)
	}
	return server
}

// tap refuses calls before their message is read: without the token, or when
// too much is being received. The place of a call is free when its context ends.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if s.cfg.Token != "" {
		given := ""
		if v := info.Header.Get("authorization"); len(v) == 1 {
			given = v[0]
		}
		if !s.allowed(given) {
			s.refuse(info, resultRefused)
			return nil, status.Error(codes.Unauthenticated, "a bearer token is needed")
		}
	}
	if s.metrics.inFlight.Load() >= s.cfg.MaxInFlight {
		s.refuse(info, resultBusy)
		return nil, s.retryable(codes.ResourceExhausted, errBusy)
	}
	select {
	case s.running <- struct{}{}:
	default:
		s.refuse(info, resultBusy)
		return nil, s.retryable(codes.ResourceExhausted, errBusy)
	}
	context.AfterFunc(ctx, func() { <-s.running })
	return ctx, nil
}

// refuse counts a call that was refused unread.
func (s *Server) refuse(info *tap.Info, result string) {
	sig := points
	if info.FullMethodName == "/opentelemetry.proto.collector.trace.v1.TraceService/Export" {
		sig = traces
	}
	s.metrics.request(sig, "grpc", result, 0, 0)
}

// export returns the handler of one export service.
func (s *Server) export(sig signal) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		start := s.now()
		m := &call{server: s, buffer: s.getBuffer()}
		defer func() {
			s.metrics.release(m.held)
			s.putBuffer(m.buffer)
		}()
		if err := decode(m); err != nil {
			// The sender has been told by now.
			result := resultMalformed
			if status.Code(err) == codes.ResourceExhausted {
				result = resultTooLarge
			}
			s.metrics.request(sig, "grpc", result, 0, s.now().Sub(start))
			return nil, err
		}
		if m.busy {
			s.metrics.request(sig, "grpc", resultBusy, 0, s.now().Sub(start))
			return nil, s.retryable(codes.ResourceExhausted, errBusy)
		}
		body := m.buffer.data
		a, err := s.handle(ctx, sig, body, false)
		s.metrics.request(sig, "grpc", a.result, len(body), s.now().Sub(start))
		switch {
		case err == nil:
			return reply(appendResponse(nil, &a)), nil
		case errors.Is(err, errMalformed):
			return nil, status.Error(codes.InvalidArgument, err.Error())
		case a.result == resultFull:
			return nil, s.retryable(codes.ResourceExhausted, err)
		}
		return nil, s.retryable(codes.Unavailable, err)
	}
}

// retryable returns an error that tells the sender when to come back.
func (s *Server) retryable(code codes.Code, err error) error {
	st := status.New(code, err.Error())
	if d, derr := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(s.cfg.RetryAfter)}); derr == nil {
		st = d
	}
	return st.Err()
}

// call is a message that is received, and reply one that is sent.
type (
	call struct {
		server *Server
		buffer *buffer
		held   int64
		busy   bool
	}
	reply []byte
)

// codec passes messages on as bytes.
type codec struct{}

// Name returns the name of the encoding that the bytes are in.
func (codec) Name() string { return "proto" }

// Marshal returns the bytes of a reply.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	r, ok := v.(reply)
	if !ok {
		return nil, fmt.Errorf("encode %T: not a reply", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(r)}, nil
}

// Unmarshal copies a message into the memory of its call. That there is no room
// is no error here, because grpc-go would answer it with INTERNAL.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*call)
	if !ok {
		return fmt.Errorf("decode %T: not a call", v)
	}
	n := data.Len()
	if !m.server.metrics.reserve(int64(n), m.server.cfg.MaxInFlight) {
		m.busy = true
		return nil
	}
	m.held = int64(n)
	if cap(m.buffer.data) < n {
		m.buffer.data = make([]byte, n)
	}
	m.buffer.data = m.buffer.data[:n]
	data.CopyTo(m.buffer.data)
	return nil
}

// appendResponse appends an export response; both services have the same.
func appendResponse(dst []byte, a *answer) []byte {
	if a.rejected == 0 && a.message == "" {
		return dst
	}
	var partial []byte
	if a.rejected != 0 {
		partial = binary.AppendUvarint(append(partial, 1<<3|wireVarint), uint64(a.rejected))
	}
	if a.message != "" {
		partial = binary.AppendUvarint(append(partial, 2<<3|wireLen), uint64(len(a.message)))
		partial = append(partial, a.message...)
	}
	dst = binary.AppendUvarint(append(dst, 1<<3|wireLen), uint64(len(partial)))
	return append(dst, partial...)
}

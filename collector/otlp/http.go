package otlp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// Media types of requests and answers.
const (
	typeProtobuf = "application/x-protobuf"
	typeJSON     = "application/json"
)

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s.Handler(), TLSConfig: s.cfg.TLS.Clone(), ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: s.cfg.ReadTimeout, IdleTimeout: s.cfg.IdleTimeout,
		WriteTimeout: 2 * s.cfg.ReadTimeout, MaxHeaderBytes: 64 << 10,
	}
}

// Handler returns the HTTP handler of the two export paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/traces", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, traces) })
	mux.HandleFunc("/v1/metrics", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, points) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		isJSON, _ := mediaType(r)
		s.fail(w, isJSON, http.StatusNotFound, codes.Unimplemented, "only /v1/traces and /v1/metrics are received here")
	})
	return mux
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, sig signal) {
	start, size, result := s.now(), 0, resultUnsupported
	defer func() { s.metrics.request(sig, "http", result, size, s.now().Sub(start)) }()
	isJSON, known := mediaType(r)
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.fail(w, isJSON, http.StatusMethodNotAllowed, codes.Unimplemented, "use POST")
		return
	}
	if !s.allowed(r.Header.Get("Authorization")) {
		result = resultRefused
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.fail(w, isJSON, http.StatusUnauthorized, codes.Unauthenticated, "a bearer token is needed")
		return
	}
	if !known {
		s.fail(w, isJSON, http.StatusUnsupportedMediaType, codes.InvalidArgument, "content type must be "+typeProtobuf+" or "+typeJSON)
		return
	}
	encoding, known := contentEncoding(r)
	if !known {
		w.Header().Set("Accept-Encoding", "gzip, zstd, identity")
		s.fail(w, isJSON, http.StatusUnsupportedMediaType, codes.InvalidArgument, "content encoding must be gzip, zstd or identity")
		return
	}
	b := s.getBuffer()
	defer s.putBuffer(b)
	var held int64
	defer func() { s.metrics.release(held) }()
	if err := s.readBody(w, r, b, encoding, isJSON, &held); err != nil {
		result = s.readFailed(w, isJSON, err)
		return
	}
	size = len(b.data)
	a, err := s.handle(r.Context(), sig, b.data, isJSON)
	result = a.result
	switch {
	case err == nil:
		s.succeed(w, isJSON, &a)
	case errors.Is(err, errMalformed):
		s.fail(w, isJSON, http.StatusBadRequest, codes.InvalidArgument, err.Error())
	case a.result == resultFull:
		s.comeBack(w, isJSON, codes.ResourceExhausted, err)
	default:
		s.comeBack(w, isJSON, codes.Unavailable, err)
	}
}

// readBody reads the body into b and keeps account of the room it takes. JSON
// takes up to twice its size again, as protobuf.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, b *buffer, encoding string, isJSON bool, held *int64) error {
	limit := s.cfg.MaxBody
	if r.ContentLength > limit {
		return errTooLarge
	}
	weight := int64(1)
	if isJSON {
		weight = 3
	}
	hold := func(total int64) bool {
		more := total*weight - *held
		if more <= 0 {
			return true
		}
		if !s.metrics.reserve(more, s.cfg.MaxInFlight) {
			return false
		}
		*held += more
		return true
	}
	err := b.read(http.MaxBytesReader(w, r.Body, limit), encoding, r.ContentLength, limit, hold)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	return err
}

// readFailed answers a request whose body could not be read.
func (s *Server) readFailed(w http.ResponseWriter, isJSON bool, err error) (result string) {
	switch {
	case errors.Is(err, errTooLarge):
		w.Header().Set("Connection", "close")
		s.fail(w, isJSON, http.StatusRequestEntityTooLarge, codes.InvalidArgument, fmt.Sprintf("request is larger than %d bytes", s.cfg.MaxBody))
		return resultTooLarge
	case errors.Is(err, errBusy):
		s.comeBack(w, isJSON, codes.ResourceExhausted, err)
		return resultBusy
	}
	s.fail(w, isJSON, http.StatusBadRequest, codes.InvalidArgument, "read body: "+err.Error())
	return resultMalformed
}

// mediaType returns whether a request is JSON, and whether its type is known.
func mediaType(r *http.Request) (isJSON, known bool) {
	given := r.Header.Get("Content-Type")
	if given == typeProtobuf {
		return false, true
	}
	switch t, _, err := mime.ParseMediaType(given); {
	case err != nil:
		return false, false
	case t == typeJSON:
		return true, true
	default:
		return false, t == typeProtobuf || t == "application/protobuf"
	}
}

// contentEncoding returns the encoding of the body, empty for none.
func contentEncoding(r *http.Request) (encoding string, known bool) {
	switch e := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))); e {
	case "", "identity":
		return "", true
	case "gzip", "x-gzip":
		return "gzip", true
	case "zstd":
		return "zstd", true
	}
	return "", false
}

func (s *Server) succeed(w http.ResponseWriter, isJSON bool, a *answer) {
	if !isJSON {
		s.write(w, typeProtobuf, http.StatusOK, appendResponse(nil, a))
		return
	}
	type partial struct {
		RejectedSpans  int64  `json:"rejectedSpans,omitempty,string"`
		RejectedPoints int64  `json:"rejectedDataPoints,omitempty,string"`
		Message        string `json:"errorMessage,omitempty"`
	}
	var out struct {
		Partial *partial `json:"partialSuccess,omitempty"`
	}
	if a.rejected != 0 || a.message != "" {
		out.Partial = &partial{Message: a.message}
		if a.metrics {
			out.Partial.RejectedPoints = a.rejected
		} else {
			out.Partial.RejectedSpans = a.rejected
		}
	}
	body, err := json.Marshal(out)
	if err != nil {
		s.log.Error("otlp_answer_not_encoded", "error", err)
	}
	s.write(w, typeJSON, http.StatusOK, body)
}

// comeBack asks the sender to send the same again later.
func (s *Server) comeBack(w http.ResponseWriter, isJSON bool, code codes.Code, err error) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(s.cfg.RetryAfter.Seconds()))))
	s.fail(w, isJSON, http.StatusServiceUnavailable, code, err.Error())
}

// fail answers with a google.rpc.Status in the encoding of the request.
func (s *Server) fail(w http.ResponseWriter, isJSON bool, httpStatus int, code codes.Code, message string) {
	if isJSON {
		body, err := json.Marshal(struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}{int(code), message})
		if err != nil {
			s.log.Error("otlp_answer_not_encoded", "error", err)
		}
		s.write(w, typeJSON, httpStatus, body)
		return
	}
	body := binary.AppendUvarint([]byte{1<<3 | wireVarint}, uint64(code))
	body = binary.AppendUvarint(append(body, 2<<3|wireLen), uint64(len(message)))
	s.write(w, typeProtobuf, httpStatus, append(body, message...))
}

func (s *Server) write(w http.ResponseWriter, mediaType string, httpStatus int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(httpStatus)
	if _, err := w.Write(body); err != nil {
		s.log.Debug("otlp_answer_not_sent", "error", err)
	}
}

package influx

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// write answers a write of either version.
func (s *Server) write(w http.ResponseWriter, r *http.Request, api api) {
	begin := s.now()
	s.identifyServer(w)
	o, size := s.receive(w, r, api, begin)
	s.metrics.request(int(api), o.result, size, s.now().Sub(begin))
	switch {
	case o.status == http.StatusNoContent:
		w.WriteHeader(o.status)
		return
	case o.status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Second, s.cfg.RetryAfter).Seconds())))
	case o.status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Basic realm="InfluxDB"`)
	case o.status == http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case o.status == http.StatusRequestEntityTooLarge:
		w.Header().Set("Connection", "close")
	}
	api.fail(w, o.status, o.message, o.line)
}

// receive reads a request and keeps its body.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, api api, begin time.Time) (o outcome, size int) {
	if r.Method != http.MethodPost {
		return outcome{http.StatusMethodNotAllowed, resultMalformed, "use POST", 0}, 0
	}
	if !s.allowed(r) {
		words := "authorization failed"
		if api == v2 {
			words = "unauthorized access" //nolint:misspell // InfluxDB's word
		}
		return outcome{http.StatusUnauthorized, resultRefused, words, 0}, 0
	}
	about, err := aboutOf(r, api, begin)
	if err != nil {
		return outcome{http.StatusBadRequest, resultMalformed, err.Error(), 0}, 0
	}
	// Some writers know no deadlines; then the connection's own bound holds.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(begin.Add(s.cfg.ReadTimeout))
	_ = control.SetWriteDeadline(begin.Add(2 * s.cfg.ReadTimeout))
	b := s.buffers.Get().(*buffer)
	defer s.putBuffer(b)
	var held int64
	defer func() { s.metrics.release(held) }()
	switch err := s.read(w, r, b, &held); {
	case errors.Is(err, errTooLarge):
		return outcome{http.StatusRequestEntityTooLarge, resultTooLarge, err.Error(), 0}, 0
	case errors.Is(err, errBusy):
		return outcome{http.StatusServiceUnavailable, resultBusy, err.Error(), 0}, 0
	case err != nil:
		return outcome{http.StatusBadRequest, resultMalformed, "read body: " + err.Error(), 0}, 0
	}
	_ = control.SetReadDeadline(time.Time{}) // it could be set, so it can be taken back
	if api == v2 && len(b.data) == 0 {
		return outcome{http.StatusBadRequest, resultMalformed, "writing requires points", 0}, 0
	}
	return s.keep(r.Context(), b.data, &about, api), len(b.data)
}

// aboutOf reads the address of a write. The parameters run and name are the
// project's own: InfluxDB passes over what it does not know.
func aboutOf(r *http.Request, api api, now time.Time) (About, error) {
	q := r.URL.Query()
	a := About{Database: q.Get("db"), Run: q.Get("run"), Name: q.Get("name"), Now: now.UnixNano()}
	if api == v2 {
		a.Database = q.Get("bucket")
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		a.Sender = host
	}
	switch q.Get("precision") {
	case "", "n", "ns":
		a.Unit = 1
	case "u", "us", "µ":
		a.Unit = 1e3
	case "ms":
		a.Unit = 1e6
	case "s":
		a.Unit = 1e9
	case "m":
		a.Unit = 60e9
	case "h":
		a.Unit = 3600e9
	default:
		return a, errors.New("invalid precision; valid precision units are ns, us, ms, and s")
	}
	return a, nil
}

// identifyServer sets the headers by which clients know an InfluxDB.
func (s *Server) identifyServer(w http.ResponseWriter) {
	w.Header().Set("X-Influxdb-Version", "1.8-plimsoll-"+s.cfg.Version)
	w.Header().Set("X-Influxdb-Build", "OSS")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// ping answers clients that ask whether anybody is there.
func (s *Server) ping(w http.ResponseWriter, r *http.Request) {
	s.identifyServer(w)
	if v := r.URL.Query().Get("verbose"); v != "" && v != "0" && v != "false" {
		s.answer(w, map[string]string{"version": "1.8-plimsoll-" + s.cfg.Version})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// health answers clients of version 2 that ask the same.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.identifyServer(w)
	s.answer(w, map[string]string{"name": "plimsoll", "message": "ready to receive line protocol", "status": "pass", "version": s.cfg.Version})
}

// query takes the statements by which writers make their database, which there
// is no need to make, and refuses all others: nothing can be read here.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	s.identifyServer(w)
	if !s.allowed(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="InfluxDB"`)
		v1.fail(w, http.StatusUnauthorized, "authorization failed", 0)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	statement := strings.ToUpper(strings.Join(strings.Fields(r.FormValue("q")), " "))
	for _, known := range [...]string{"CREATE DATABASE ", "CREATE RETENTION POLICY ", "SHOW DATABASES"} {
		if strings.HasPrefix(statement+" ", known) {
			s.answer(w, map[string]any{"results": []any{map[string]int{"statement_id": 0}}})
			return
		}
	}
	v1.fail(w, http.StatusBadRequest, "only CREATE DATABASE is understood: nothing can be queried here, verdicts are at /api/v1/runs", 0)
}

func (s *Server) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has gone if this fails
}

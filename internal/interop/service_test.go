package interop

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// What the service can do: 4 slots of 40 ms each are 100 requests per second at
// most.
const (
	slots = 4
	hold  = 40 * time.Millisecond
)

// service is a small service that takes time: each request holds a slot, and
// waits for one in an unbounded queue, first in, first out. A request whose
// client has gone still takes its turn.
type service struct {
	*httptest.Server
	free    chan struct{}
	stopped chan struct{}
	arrived atomic.Int64
	served  atomic.Int64
}

// newService starts a service that stops with the test.
func newService(t *testing.T) *service {
	t.Helper()
	s := &service{free: make(chan struct{}, slots), stopped: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(func() {
		close(s.stopped)
		s.Close()
	})
	return s
}

func (s *service) handle(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice a client that goes away
	s.arrived.Add(1)
	select {
	case s.free <- struct{}{}: // blocked senders of a channel are served in order
	case <-s.stopped: // the test is over, and may have left a long queue
		return
	}
	time.Sleep(hold)
	<-s.free
	s.served.Add(1)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{\"ok\":true}\n")
}

// port is the port that the service listens on.
func (s *service) port() string {
	return s.Listener.Addr().String()[len("127.0.0.1:"):]
}

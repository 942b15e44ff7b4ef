package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// events answers GET …/events: one event per revision, at most one a second,
// until the run is finished. A reader that reconnects after that with the
// revision that it has seen gets 204, which tells browsers to stop asking.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	if run.Finished && r.Header.Get("Last-Event-ID") == strconv.FormatUint(run.Revision, 10) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return &problem{
			status: http.StatusServiceUnavailable, code: "too_many_streams", retryAfter: 10,
			text: fmt.Sprintf("%d event streams are open already", s.cfg.MaxStreams), hint: "poll the verdict instead; it is remembered by revision",
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	changes, err := s.deps.Runs.Watch(ctx, run.ID)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	st := &stream{s: s, w: w, control: http.NewResponseController(w), id: run.ID}
	st.run(ctx, r.Method == http.MethodHead, changes)
	return nil
}

// stream is one reader of the events of one run.
type stream struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
	id      string
	sent    uint64        // revision of the last event
	any     bool          // one event has been sent
	took    time.Duration // to compute the last event
}

func (st *stream) run(ctx context.Context, headOnly bool, changes <-chan struct{}) {
	st.w.WriteHeader(http.StatusOK)
	if headOnly {
		return
	}
	silent := time.NewTicker(st.s.cfg.KeepAlive)
	defer silent.Stop()
	for {
		if more := st.event(ctx); !more {
			return
		}
		// Looks at a long run cost more; they may take a tenth of the time.
		if !pause(ctx, st.s.closing, max(st.s.cfg.EventEvery, min(9*st.took, time.Minute))) {
			return
		}
		for waiting := true; waiting; {
			select {
			case _, open := <-changes:
				if !open {
					st.write("event: end\ndata: {}\n\n")
					return
				}
				waiting = false
			case <-silent.C:
				if !st.write(": still here\n\n") {
					return
				}
			case <-st.s.closing:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// event sends the state of the run, if it has changed, and reports whether
// more can follow.
func (st *stream) event(ctx context.Context) bool {
	run, err := st.s.deps.Runs.Get(ctx, st.id)
	if err != nil {
		st.fail(ctx, err)
		return false
	}
	if st.any && run.Revision == st.sent {
		return !run.Finished
	}
	begin := st.s.deps.Now()
	got, err := st.s.judge(ctx, &run, query.Options{}, false)
	st.took = st.s.deps.Now().Sub(begin)
	if err != nil {
		st.fail(ctx, err)
		return false
	}
	v := got.value.(*wire.Verdict)
	data, err := json.Marshal(wire.Event{Revision: v.Revision, State: v.Run.State, Outcome: v.Outcome, Headline: v.Headline, Horizon: v.Horizon})
	if err != nil {
		st.fail(ctx, err)
		return false
	}
	st.sent, st.any = run.Revision, true
	if !st.write(fmt.Sprintf("event: revision\nid: %d\ndata: %s\n\n", v.Revision, data)) {
		return false
	}
	if run.Finished {
		st.write("event: end\ndata: {}\n\n")
	}
	return !run.Finished
}

// fail tells the reader that the stream ends early.
func (st *stream) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	e := wire.Error{Error: "internal error", Code: "internal"}
	if p := asProblem(err); p != nil {
		e = wire.Error{Error: p.text, Code: p.code, Hint: p.hint}
	} else {
		id := st.s.nextID()
		st.s.deps.Log.Error("event stream failed", "error_id", id, "run", st.id, "error", err)
		e.Hint = "the log of the server says more under error_id " + id
	}
	if data, err := json.Marshal(e); err == nil {
		st.write("event: error\ndata: " + string(data) + "\n\n")
	}
}

// write sends text at once; a reader that does not take it in time is let go.
func (st *stream) write(text string) bool {
	_ = st.control.SetWriteDeadline(st.s.deps.Now().Add(st.s.cfg.WriteTimeout))
	if _, err := st.w.Write([]byte(text)); err != nil {
		return false
	}
	return st.control.Flush() == nil
}

// pause waits, and reports false when there is no reason to go on.
func pause(ctx context.Context, closing <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-closing:
	case <-ctx.Done():
	}
	return false
}

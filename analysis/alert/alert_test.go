package alert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/alert"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

const start = int64(1_790_000_000_000_000_000)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(ns int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Unix(0, ns).UTC()
}

// turning is a run of 100/s declared in one step, whose one server of 8 ms takes
// half as long again between its 60th and its 120th second; clients give up after
// two seconds. One batch holds what ended in a second.
func turning() []*sample.Batch {
	rng := rand.New(rand.NewPCG(1, 1))
	g := sample.Group{Source: "gen", Scenario: "s", Model: sample.Open, Process: "constant", Rate: 100}
	byEnd := map[int64][]sample.Row{}
	var free int64
	for i := range int64(24_000) {
		due := start + i*10e6
		took := int64(8e6 * rng.ExpFloat64())
		if at := i / 100; at >= 60 && at < 120 {
			took = took * 8 / 5
		}
		r := foldtest.Row(due, due, max(free, due)+took)
		if r.Done-took > due+2e9 {
			r.Done, r.Outcome = due+2e9, sample.Timeout
		} else {
			free = r.Done
		}
		byEnd[r.Done/1e9] = append(byEnd[r.Done/1e9], r)
	}
	var out []*sample.Batch
	for s := start / 1e9; len(byEnd) > 0; s++ {
		if rows := byEnd[s]; len(rows) > 0 {
			out = append(out, foldtest.Batches(g, rows, len(rows))...)
		}
		delete(byEnd, s)
	}
	return out
}

// runs is one run that goes on.
type runs struct {
	mu   sync.Mutex
	ev   foldtest.Evidence
	live bool
	fail error
}

func newRuns() *runs {
	timeout := 2.0
	good := 0.9
	deadline := 1.0
	return &runs{live: true, ev: foldtest.Evidence{Of: fold.Run{ID: "r-1", Name: "orders", Declaration: &wire.Declaration{
		TimeoutS: &timeout, DeadlineS: &deadline, Arrival: &wire.Arrival{Model: "open", Process: "constant"},
		Steps:      []wire.DeclareStep{{Name: "steady", RatePerS: 100, DurationS: 240}},
		Objectives: []wire.Objective{{GoodputRatioMin: &good}},
	}}}}
}

func (r *runs) Live() []alert.Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.live {
		return nil
	}
	return []alert.Live{{ID: r.ev.Of.ID, Name: r.ev.Of.Name, Revision: r.ev.Of.Revision}}
}

func (r *runs) snapshot(place uint64) *foldtest.Evidence {
	ev := r.ev
	ev.Batches = ev.Batches[min(len(ev.Batches), max(0, int(place)-1)):]
	return &ev
}

func (r *runs) Open(_ context.Context, _ string, place uint64) (fold.Evidence, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return nil, r.fail
	}
	return later{r.snapshot(place), place}, nil
}

// later is evidence from a place on.
type later struct {
	*foldtest.Evidence
	place uint64
}

func (l later) Entries() []fold.Entry {
	out := l.Evidence.Entries()
	for i := range out {
		out[i].Place += max(1, l.place) - 1
	}
	return out
}

func (r *runs) Judge(ctx context.Context, _ string) (*wire.Verdict, error) {
	r.mu.Lock()
	ev := r.snapshot(0)
	r.mu.Unlock()
	return verdict.Analysis{}.Judge(ctx, ev, query.Options{})
}

// TestAlertsOfARun follows a run in which a service loses its speed for a minute:
// the alert fires soon after, is delivered once, though the receiver fails at
// first and the process restarts meanwhile, and resolves when the service is back.
// The finished run misses its objective, which fires until Hold has passed.
func TestAlertsOfARun(t *testing.T) {
	t.Parallel()
	var got receiver
	got.refuse = 2
	srv := httptest.NewServer(&got)
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "alerts.json")
	c := &clock{}
	r := newRuns()
	log := slog.New(slog.DiscardHandler)
	var raised []alert.Alert
	cfg := alert.Config{JudgeEvery: 10 * time.Second, Looks: 1, Now: c.now, Log: log, Raised: func(a alert.Alert) { raised = append(raised, a) }}
	open := func() (*alert.Book, *alert.Watcher) {
		b, err := alert.OpenBook(path)
		if err != nil {
			t.Fatal(err)
		}
		return b, alert.NewWatcher(cfg, r, b)
	}
	book, w := open()
	var fired, cleared int64
	for i, b := range turning() {
		r.mu.Lock()
		r.ev.Batches = append(r.ev.Batches, b)
		r.ev.Of.Revision++
		r.mu.Unlock()
		c.set(b.Span().To)
		w.Tick(t.Context())
		w.Wait()
		if i == 100 {
			book, w = open() // a restart in the middle of it
		}
		unstable := slices.ContainsFunc(book.Firing(), func(a alert.Alert) bool { return a.Labels.Name == alert.Unstable })
		switch {
		case unstable && fired == 0:
			fired = b.Span().To
		case !unstable && fired > 0 && cleared == 0:
			cleared = b.Span().To
		}
	}
	if at := (fired - start) / 1e9; at < 60 || at > 75 {
		t.Errorf("fired after %d s, want soon after 60", at)
	}
	if at := (cleared - start) / 1e9; at < 120 || at > 150 {
		t.Errorf("resolved after %d s, want soon after 120", at)
	}
	if len(raised) != 2 || raised[0].Labels.Name != alert.Unstable || raised[0].Step != "steady" || raised[1].Labels.Name != alert.GoodputLow {
		t.Errorf("raised %+v, want one alert of the step and one of the objective", raised)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hook := &alert.Webhook{URL: srv.URL, Form: alert.Alertmanager, Server: "http://here", Book: book, Client: srv.Client(), Log: log}
	var delivering sync.WaitGroup
	delivering.Go(func() { hook.Run(ctx) })
	until(t, func() bool { return len(book.Waiting()) == 0 })

	r.mu.Lock()
	r.live, r.ev.Of.Finished = false, true
	r.mu.Unlock()
	end := c.now()
	w.Tick(t.Context())
	w.Wait()
	until(t, func() bool { return len(book.Waiting()) == 0 })
	if firing := book.Firing(); len(firing) != 1 || firing[0].Labels.Name != alert.GoodputLow {
		t.Errorf("after the end %+v fire, want the objective that was missed", firing)
	}
	c.set(end.Add(alert.Hold).UnixNano() + 1e9)
	w.Tick(t.Context())
	until(t, func() bool { return len(book.Waiting()) == 0 && len(book.Firing()) == 0 })
	cancel()
	delivering.Wait()
	got.check(t)
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for range 2000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("nothing came of it in ten seconds")
}

// receiver is an Alertmanager that refuses the first calls.
type receiver struct {
	mu     sync.Mutex
	refuse int
	alerts []map[string]any
}

func (g *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse > 0 {
		g.refuse--
		http.Error(w, "not yet", http.StatusServiceUnavailable)
		return
	}
	var all []map[string]any
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.alerts = append(g.alerts, all...)
}

func (g *receiver) check(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	var seen []string
	for _, a := range g.alerts {
		labels := a["labels"].(map[string]any)
		notes := a["annotations"].(map[string]any)
		state := "fires"
		if _, ended := a["endsAt"]; ended {
			state = "ends"
		}
		seen = append(seen, labels["alertname"].(string)+" "+state)
		if labels["run_name"] != "orders" || labels["scenario"] != "s" || labels["run_id"] != nil {
			t.Errorf("labels %v", labels)
		}
		if notes["run_id"] != "r-1" || notes["run_url"] != "http://here/api/v1/runs/r-1/verdict" || !strings.ContainsAny(notes["description"].(string), "0123456789") {
			t.Errorf("annotations %v", notes)
		}
	}
	want := []string{"PlimsollUnstable fires", "PlimsollGoodputLow fires", "PlimsollUnstable ends", "PlimsollGoodputLow ends"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

// TestBookSurvives writes and reads books, and refuses one that is none.
func TestBookSurvives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "alerts.json")
	b, err := alert.OpenBook(path)
	if err != nil {
		t.Fatal(err)
	}
	a := alert.Alert{Labels: alert.Labels{Name: alert.Unstable, RunName: "n", Severity: alert.Critical}, RunID: "1"}
	at := time.Unix(1, 0).UTC()
	for range 2 { // telling twice changes nothing
		if _, err := b.Tell("1", []string{alert.Unstable}, []alert.Alert{a}, at); err != nil {
			t.Fatal(err)
		}
	}
	if b, err = alert.OpenBook(path); err != nil || len(b.Firing()) != 1 || len(b.Waiting()) != 1 {
		t.Fatalf("after a restart: %v, %v, %v", b.Firing(), b.Waiting(), err)
	}
	if err := b.Ended("1", at.Add(alert.Hold)); err != nil {
		t.Fatal(err)
	}
	if err := b.Supersede("n", "2", at.Add(time.Minute)); err != nil || len(b.Firing()) != 0 {
		t.Errorf("a new run of the name leaves %v, %v", b.Firing(), err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := alert.OpenBook(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a broken book opens: %v", err)
	}
}

// TestJSONForm posts one object for each change.
func TestJSONForm(t *testing.T) {
	t.Parallel()
	bodies := make(chan []byte, 4)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies <- b
	}))
	defer srv.Close()
	b, err := alert.OpenBook("")
	if err != nil {
		t.Fatal(err)
	}
	a := alert.Alert{Labels: alert.Labels{Name: alert.NotRecovered, RunName: "n", Severity: alert.Critical}, RunID: "a/b", Summary: "n: it did not recover", Description: "900/s."}
	for i, hold := range [][]alert.Alert{{a}, nil} {
		if _, err := b.Tell("a/b", []string{alert.NotRecovered}, hold, time.Unix(int64(i), 0).UTC()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hook := &alert.Webhook{URL: srv.URL, Form: alert.JSON, Server: "http://here", Book: b, Client: srv.Client(), Log: slog.New(slog.DiscardHandler)}
	go hook.Run(ctx)
	for _, want := range []string{
		`{"status":"firing","text":"n: it did not recover. 900/s.","labels":{"alertname":"PlimsollNotRecovered","run_name":"n","severity":"critical"},"run_id":"a/b","summary":"n: it did not recover","description":"900/s.","starts_at":"1970-01-01T00:00:00Z","run_url":"http://here/api/v1/runs/a%2Fb/verdict"}`,
		`{"status":"resolved","text":"Resolved: n: it did not recover.","labels":{"alertname":"PlimsollNotRecovered","run_name":"n","severity":"critical"},"run_id":"a/b","summary":"n: it did not recover","description":"900/s.","starts_at":"1970-01-01T00:00:00Z","run_url":"http://here/api/v1/runs/a%2Fb/verdict","ends_at":"1970-01-01T00:00:01Z"}`,
	} {
		if got := string(<-bodies); got != want {
			t.Errorf("posted\n%s\nwant\n%s", got, want)
		}
	}
}

// TestCommandGetsTheVerdict runs a command that copies what it is told.
func TestCommandGetsTheVerdict(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "out")
	judge := func(context.Context, string) (*wire.Verdict, error) {
		return &wire.Verdict{Outcome: wire.OutcomeFail, Headline: "It fell over."}, nil
	}
	var logged bytes.Buffer
	c := alert.NewCommand(`{ echo "$PLIMSOLL_EVENT $PLIMSOLL_RUN_ID $PLIMSOLL_OUTCOME $PLIMSOLL_ALERT"; cat; } >"$TO.tmp" && mv "$TO.tmp" "$TO"; echo done`,
		judge, []string{"PATH=" + os.Getenv("PATH"), "TO=" + to}, slog.New(slog.NewTextHandler(&logged, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	c.Raised(alert.Alert{RunID: "r", Labels: alert.Labels{Name: alert.Unstable, RunName: "n"}})
	var data []byte
	until(t, func() bool {
		var err error
		data, err = os.ReadFile(to)
		return err == nil
	})
	if first, rest, _ := strings.Cut(string(data), "\n"); first != "alert r fail PlimsollUnstable" || !strings.Contains(rest, "It fell over.") {
		t.Errorf("the command was told %q", data)
	}
	cancel()
	running.Wait()
}

// TestRunsThatCannotBeRead leave the watcher at work.
func TestRunsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := newRuns()
	r.fail = errors.New("disk on fire")
	r.ev.Of.Revision = 1
	c := &clock{}
	b, err := alert.OpenBook("")
	if err != nil {
		t.Fatal(err)
	}
	w := alert.NewWatcher(alert.Config{Looks: 1, Now: c.now, Log: slog.New(slog.DiscardHandler)}, r, b)
	w.Tick(t.Context())
	w.Wait()
	if n := len(w.Statuses()); n != 0 {
		t.Errorf("%d statuses of a run that cannot be read", n)
	}
	r.fail = nil
	r.ev.Batches = turning()[:10]
	w.Tick(t.Context())
	w.Wait()
	var text bytes.Buffer
	w.WriteMetrics(&text)
	for _, want := range []string{
		`plimsoll_run_live{run_name="orders"} 1`, `plimsoll_run_requests_total{run_name="orders",outcome="ok"} 1000`,
		`plimsoll_run_unstable{run_name="orders",step=""} 0`,
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("metrics lack %q:\n%s", want, &text)
		}
	}
}

// TestReopened: a run that goes on after all is shown as one that does.
func TestReopened(t *testing.T) {
	t.Parallel()
	c, r := &clock{}, newRuns()
	book, err := alert.OpenBook("")
	if err != nil {
		t.Fatal(err)
	}
	w := alert.NewWatcher(alert.Config{JudgeEvery: time.Hour, Looks: 1, Now: c.now, Log: slog.New(slog.DiscardHandler)}, r, book)
	all := turning()
	for i, live := range []bool{true, false, true} {
		r.mu.Lock()
		r.live, r.ev.Of.Finished = live, !live
		r.ev.Batches = all[:10*(i+1)]
		r.ev.Of.Revision++
		r.mu.Unlock()
		c.set(all[10*(i+1)].Span().To)
		w.Tick(t.Context())
		w.Wait()
		if s := w.Statuses(); len(s) != 1 || s[0].Ended == live {
			t.Errorf("%d: live %t, but %+v", i, live, s)
		}
	}
}

// unjudged are runs on which there is no verdict.
type unjudged struct{ *runs }

func (unjudged) Judge(context.Context, string) (*wire.Verdict, error) {
	return nil, errors.New("the disk is away")
}

// TestEndUnjudged: an alert of a run that ended goes on where no verdict says that
// it should not, and ends in time.
func TestEndUnjudged(t *testing.T) {
	t.Parallel()
	c, r := &clock{}, newRuns()
	book, err := alert.OpenBook("")
	if err != nil {
		t.Fatal(err)
	}
	w := alert.NewWatcher(alert.Config{JudgeEvery: time.Hour, Looks: 1, Now: c.now, Log: slog.New(slog.DiscardHandler)}, unjudged{r}, book)
	r.ev.Batches = turning()[:100]
	r.ev.Of.Revision = 1
	for i, firing := range []int{1, 1, 0} {
		r.mu.Lock()
		r.live = i == 0
		r.mu.Unlock()
		c.set(start + 100e9 + int64(i)*int64(alert.Hold))
		w.Tick(t.Context())
		w.Wait()
		if got := len(book.Firing()); got != firing {
			t.Errorf("%d: %d fire, want %d", i, got, firing)
		}
	}
}

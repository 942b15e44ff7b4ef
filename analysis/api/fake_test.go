package api_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

func at(s float64) time.Time {
	return time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

func ptr[T any](v T) *T { return &v }

// fakeRuns keeps runs in memory.
type fakeRuns struct {
	mu       sync.Mutex
	runs     map[string]*api.Run
	declared map[string]string
	marks    []wire.Mark
	watchers map[string][]chan struct{}
	saved    int
	err      error // returned by every call when set
}

func newFakeRuns() *fakeRuns {
	f := &fakeRuns{runs: map[string]*api.Run{}, declared: map[string]string{}, watchers: map[string][]chan struct{}{}}
	f.add(api.Run{
		ID: "orders-41", Name: "orders", Generator: "otelgen", Finished: true, StartedAt: ptr(at(-600)), EndedAt: ptr(at(-500)), Revision: 7,
		Summary: &api.Summary{Revision: 7, Outcome: wire.OutcomePass, Headline: "Carried 80/s."},
	})
	f.add(api.Run{ID: "orders-42", Name: "orders", Generator: "otelgen", Finished: true, StartedAt: ptr(at(0)), EndedAt: ptr(at(72)), Revision: 118})
	return f
}

func (f *fakeRuns) add(r api.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[r.ID] = &r
}

// change applies fn to a run and wakes its watchers.
func (f *fakeRuns) change(id string, fn func(*api.Run)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(f.runs[id])
	f.runs[id].Revision++
	for _, c := range f.watchers[id] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (f *fakeRuns) List(_ context.Context, q api.ListQuery) (api.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return api.Page{}, f.err
	}
	if q.Cursor != "" && f.runs[q.Cursor] == nil {
		return api.Page{}, api.ErrBadCursor
	}
	var page api.Page
	for _, r := range f.newestFirst() {
		if q.Text != "" && !strings.Contains(r.ID+r.Name, q.Text) || q.Cursor != "" && r.ID >= q.Cursor {
			continue
		}
		if len(page.Runs) == q.Limit {
			page.NextCursor = page.Runs[q.Limit-1].ID
			break
		}
		page.Runs = append(page.Runs, *r)
	}
	return page, nil
}

func (f *fakeRuns) newestFirst() []*api.Run {
	var all []*api.Run
	for _, r := range f.runs {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *api.Run) int { return cmp.Compare(b.ID, a.ID) })
	return all
}

func (f *fakeRuns) Get(_ context.Context, ref string) (api.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return api.Run{}, f.err
	}
	name, latest := strings.CutPrefix(ref, "latest:")
	for _, r := range f.newestFirst() {
		if r.ID == ref || ref == "latest" || latest && r.Name == name {
			return *r, nil
		}
	}
	return api.Run{}, fmt.Errorf("%w: %q", api.ErrNotFound, ref)
}

func (f *fakeRuns) Open(ctx context.Context, id string) (fold.Evidence, error) {
	r, err := f.Get(ctx, id)
	return fakeEvidence{r}, err
}

func (f *fakeRuns) Declare(_ context.Context, d wire.Declaration) (api.Run, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return api.Run{}, false, f.err
	}
	if strings.HasPrefix(d.ID, "latest") {
		return api.Run{}, false, fmt.Errorf("%w: id: %q is how the newest run is asked for", api.ErrInvalid, d.ID)
	}
	if d.ID == "" {
		d.ID = d.Name + "-1"
	}
	text := fmt.Sprint(d.Name, d.Steps)
	old, ok := f.declared[d.ID]
	switch {
	case ok && old == text:
		return *f.runs[d.ID], false, nil
	case ok:
		return api.Run{}, false, fmt.Errorf("run %q: %w", d.ID, api.ErrConflict)
	}
	f.declared[d.ID] = text
	if f.runs[d.ID] == nil {
		f.runs[d.ID] = &api.Run{ID: d.ID, Name: d.Name, Revision: 1}
	}
	return *f.runs[d.ID], true, nil
}

func (f *fakeRuns) Finish(_ context.Context, id string) error {
	f.change(id, func(r *api.Run) { r.Finished = true })
	return nil
}

func (f *fakeRuns) Mark(_ context.Context, _ string, m wire.Mark) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marks = append(f.marks, m)
	return nil
}

func (f *fakeRuns) Delete(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.runs, id)
	return nil
}

func (f *fakeRuns) Watch(_ context.Context, id string) (<-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{}, 1)
	f.watchers[id] = append(f.watchers[id], c)
	return c, nil
}

func (f *fakeRuns) SaveVerdict(_ context.Context, id string, v *wire.Verdict) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[id].Summary = &api.Summary{Revision: v.Revision, Outcome: v.Outcome, Headline: v.Headline}
	f.saved++
	return nil
}

func (f *fakeRuns) KeptVerdict(_ context.Context, id string) (*wire.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs[id].Summary == nil {
		return nil, api.ErrNotFound
	}
	v := exampleVerdict()
	v.Headline = "As it was kept."
	return v, nil
}

// fakeEvidence describes a run and holds no rows.
type fakeEvidence struct{ run api.Run }

func (e fakeEvidence) Run() fold.Run {
	return fold.Run{ID: e.run.ID, Name: e.run.Name, Finished: e.run.Finished, Revision: e.run.Revision}
}
func (fakeEvidence) Entries() []fold.Entry { return nil }
func (fakeEvidence) Read(context.Context, []int, func(int, *sample.Batch) error) error {
	return nil
}

func (fakeEvidence) Telemetry(context.Context, sample.Span, func(*sample.Batch) error) error {
	return nil
}

// fakeAnalysis answers every question with the example, and remembers it.
type fakeAnalysis struct {
	mu     sync.Mutex
	judged int
	last   query.Options
	hold   chan struct{} // when set, answers wait for it or for the end of the call
	fail   func() error  // when set, called before an answer
}

func (f *fakeAnalysis) note(ctx context.Context, o query.Options) error {
	f.mu.Lock()
	f.last = o
	hold, fail := f.hold, f.fail
	f.judged++
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if fail != nil {
		return fail()
	}
	return nil
}

func (f *fakeAnalysis) Judge(ctx context.Context, ev fold.Evidence, o query.Options) (*wire.Verdict, error) {
	if err := f.note(ctx, o); err != nil {
		return nil, err
	}
	v := exampleVerdict()
	run := ev.Run()
	v.Revision, v.Run.ID, v.Run.Name = run.Revision, run.ID, run.Name
	if !run.Finished {
		v.Run.State = wire.Live
	}
	return v, nil
}

func (f *fakeAnalysis) Series(ctx context.Context, _ fold.Evidence, o query.Options) (*wire.SeriesAnswer, error) {
	if err := f.note(ctx, o); err != nil {
		return nil, err
	}
	a := &wire.SeriesAnswer{Time: []time.Time{at(0), at(1)}, Columns: map[string][]*float64{}}
	for _, n := range o.Names {
		a.Columns[n] = []*float64{ptr(1.5), nil}
	}
	return a, nil
}

func (f *fakeAnalysis) Spectrum(ctx context.Context, _ fold.Evidence, o query.Options) (*wire.Spectrum, error) {
	if err := f.note(ctx, o); err != nil {
		return nil, err
	}
	points := []wire.SpectrumPoint{
		{Quantile: 0.5, Inverse: ptr(2.0), Seconds: ptr(6.0), AtLeast: ptr(6.0), Count: 3600},
		{Quantile: 1, AtLeast: ptr(12.0), Count: 7200},
	}
	return &wire.Spectrum{Response: points, Service: points[:1]}, nil
}

func (f *fakeAnalysis) Heatmap(ctx context.Context, _ fold.Evidence, o query.Options) (*wire.Heatmap, error) {
	if err := f.note(ctx, o); err != nil {
		return nil, err
	}
	return &wire.Heatmap{Time: []time.Time{at(0), at(10)}, CellS: 10, Bounds: []float64{0, 1, 2}, Counts: [][]int64{{1000, 200}, {0, 1200}}}, nil
}

func (f *fakeAnalysis) Goodput(ctx context.Context, _ fold.Evidence, o query.Options) (*wire.GoodputCurve, error) {
	if err := f.note(ctx, o); err != nil {
		return nil, err
	}
	return &wire.GoodputCurve{DeadlineS: []float64{1, 2}, Steps: []wire.GoodputStep{
		{Offered: ptr(120.0), Completed: ptr(100.0), Goodput: []*float64{ptr(10.0), ptr(20.0)}},
	}}, nil
}

// fixture is a server over fakes.
type fixture struct {
	*httptest.Server
	api      *api.Server
	runs     *fakeRuns
	analysis *fakeAnalysis
	log      *bytes.Buffer
	logMu    *sync.Mutex
}

func newFixture(t *testing.T, change func(*api.Config)) *fixture {
	t.Helper()
	cfg := api.DefaultConfig()
	cfg.Version = "1.2.3"
	cfg.EventEvery = time.Millisecond
	if change != nil {
		change(&cfg)
	}
	f := &fixture{runs: newFakeRuns(), analysis: &fakeAnalysis{}, log: &bytes.Buffer{}, logMu: &sync.Mutex{}}
	srv, err := api.New(cfg, api.Deps{
		Runs: f.runs, Analysis: f.analysis, Now: time.Now,
		Log:     slog.New(slog.NewTextHandler(&lockedWriter{f.logMu, f.log}, nil)),
		Metrics: []func(io.Writer){func(w io.Writer) { fmt.Fprintln(w, "other_metric 1") }},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.SetReady()
	f.api, f.Server = srv, httptest.NewServer(srv)
	t.Cleanup(func() {
		srv.Drain()
		f.Server.Close()
		srv.Close()
	})
	return f
}

// do sends a request and returns status, header and body.
func (f *fixture) do(t *testing.T, method, path, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

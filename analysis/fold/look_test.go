package fold_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// turning is a run of 100/s whose service of 10 slots of 80 ms loses a third of
// its speed for a minute, as an exporter sends it: a batch of what ended in each
// second. Clients give up after two seconds.
func turning(rng *rand.Rand) []*sample.Batch {
	g := sample.Group{Source: "gen", Scenario: "s", Model: sample.Open, Process: "constant", Rate: 100, Deadline: 1e9}
	slots := make([]int64, 10)
	var rows []sample.Row
	for i := range int64(24_000) {
		due := start + i*10e6
		s := slices.Index(slots, slices.Min(slots))
		took := int64(80e6 * rng.ExpFloat64())
		if at := i / 100; at >= 60 && at < 120 {
			took = took * 3 / 2
		}
		began := max(slots[s], due)
		r := foldtest.Row(due, due, began+took)
		if began > due+2e9 { // it left the queue
			r.Done, r.Outcome = due+2e9, sample.Timeout
		} else {
			slots[s] = r.Done
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b sample.Row) int { return int(a.Done/1e9 - b.Done/1e9) })
	var out []*sample.Batch
	for i := 0; i < len(rows); {
		k := i
		for k < len(rows) && rows[k].Done/1e9 == rows[i].Done/1e9 {
			k++
		}
		out = append(out, foldtest.Batches(g, rows[i:k], 1<<20)...)
		i = k
	}
	return out
}

// follower opens what a run has kept so far.
type follower struct {
	ev    foldtest.Evidence
	all   []*sample.Batch
	opens int
	read  int
}

func (f *follower) open(_ context.Context, place uint64) (fold.Evidence, error) {
	f.opens++
	return counted{&f.ev, f, place}, nil
}

// counted is evidence from a place on; it counts what is read.
type counted struct {
	*foldtest.Evidence
	f     *follower
	place uint64
}

func (c counted) Entries() (out []fold.Entry) {
	for i := c.skip(); i < len(c.Batches); i++ {
		out = append(out, fold.Entry{Span: c.Batches[i].Span(), Rows: c.Batches[i].Len(), Place: uint64(i) + 1})
	}
	return out
}

func (c counted) skip() int { return max(0, int(c.place)-1) }

func (c counted) Read(ctx context.Context, at []int, fn func(int, *sample.Batch) error) error {
	skip := c.skip()
	for _, i := range at {
		c.f.read += c.Batches[i+skip].Len()
		if err := fn(i, c.Batches[i+skip]); err != nil {
			return err
		}
	}
	return nil
}

// inTurn has so many hosts count their part of 100/s and tell of it every so many
// seconds, one after the other.
func inTurn(all []*sample.Batch, hosts, every int) {
	for i, b := range all {
		for h := range hosts {
			if (i+h*every/hosts)%every != 0 {
				continue
			}
			b.Series = append(b.Series, sample.Series{Source: string(rune('a' + h)), Name: "loadtest.arrivals.scheduled", Kind: sample.Counter})
			b.Points = append(b.Points, sample.Point{
				Series: uint32(len(b.Series) - 1), Start: start, Time: start + int64(i+1)*1e9, Value: float64(100 / hosts * (i + 1)),
			})
		}
	}
}

// TestLookRaisesWhatTheFoldFinds follows a run second by second, with the
// schedule declared, counted and unknown: what is raised while it goes on is what
// the fold of the finished run finds, and no row is read more than twice.
func TestLookRaisesWhatTheFoldFinds(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(f *follower){
		"declared": func(f *follower) {
			timeout := 2.0
			f.ev.Of.Declaration = &wire.Declaration{
				TimeoutS: &timeout, Arrival: &wire.Arrival{Model: "open", Process: "constant"},
				Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 240}},
			}
		},
		"counted": func(f *follower) {
			s := sample.Series{Source: "gen", Name: "loadtest.arrivals.scheduled", Kind: sample.Counter}
			for i, b := range f.all {
				b.Series = []sample.Series{s}
				b.Points = []sample.Point{{Start: start, Time: start + int64(i+1)*1e9, Value: float64(100 * (i + 1))}}
			}
		},
		"counted by two hosts in turn": func(f *follower) { inTurn(f.all, 2, 2) },
		"counted too seldom":           func(f *follower) { inTurn(f.all, 5, 10) },
		"unknown":                      func(*follower) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &follower{ev: foldtest.Evidence{Of: fold.Run{ID: "r"}}, all: turning(rand.New(rand.NewPCG(3, 4)))}
			prepare(f)
			look := fold.NewLook(f.open)
			var seen []live.Event
			rows := 0
			for i := range f.all {
				f.ev.Batches = f.all[:i+1]
				f.ev.Of.Revision++
				rows += f.all[i].Len()
				now, err := look.Update(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(now.Events) < len(seen) || !slices.Equal(seen, now.Events[:len(seen)]) {
					t.Fatalf("second %d: what was raised has changed: %v, then %v", i, seen, now.Events)
				}
				if now.Requests != int64(rows) {
					t.Fatalf("second %d: %d requests, want %d", i, now.Requests, rows)
				}
				for _, e := range now.Events[len(seen):] {
					if lag := f.all[i].Span().To - e.At; e.Kind == live.Raise && lag > 6e9 {
						t.Errorf("%s raised %d s after its look", name, lag/1e9)
					}
				}
				seen = slices.Clone(now.Events)
			}
			f.ev.Of.Finished = true
			now, err := look.Update(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			st, err := fold.Build(t.Context(), &f.ev, query.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(st.Alarms, now.Events); diff != "" {
				t.Errorf("the fold finds other events (-fold +look):\n%s", diff)
			}
			raised := slices.IndexFunc(st.Alarms, func(e live.Event) bool { return e.Kind == live.Raise })
			if raised < 0 || now.State != live.Calm {
				t.Errorf("events %v, state %s: want an alarm, and calm at the end", st.Alarms, now.State)
			}
			if f.read > 2*rows {
				t.Errorf("%d rows were read of %d", f.read, rows)
			}
		})
	}
}

// TestLookAtFirstBytes: a look holds answers to every part of their deadline.
func TestLookAtFirstBytes(t *testing.T) {
	t.Parallel()
	rows := constant(100, 10e6, func(int) int64 { return 400e6 })
	for i := range rows {
		rows[i].FirstByte = rows[i].Sent + 50e6
		if i%4 == 0 {
			rows[i].FirstByte = rows[i].Sent + 300e6
		}
	}
	first := 0.2
	f := &follower{ev: *finished(rows)}
	f.ev.Of.Finished, f.ev.Of.Declaration = false, &wire.Declaration{FirstByteDeadlineS: &first}
	now, err := fold.NewLook(f.open).Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if now.Judged != 100 || now.Good != 75 {
		t.Errorf("%d of %d were good, want 75 of 100", now.Good, now.Judged)
	}
}

// TestLookReadsInParts follows a run that has come far before it is looked at: a
// look takes a part, and in the end all have been taken, as if it had been followed
// from the start.
func TestLookReadsInParts(t *testing.T) {
	t.Parallel()
	f := &follower{ev: foldtest.Evidence{Of: fold.Run{ID: "r", Finished: true}}, all: turning(rand.New(rand.NewPCG(3, 4)))}
	var many []*sample.Batch
	rows := 0
	for shift := range int64(5) { // five streams of the same, for enough rows
		for _, b := range f.all {
			c := &sample.Batch{Groups: []sample.Group{b.Groups[0]}}
			c.Groups[0].Scenario = string(rune('a' + shift))
			for i := range b.Len() {
				r := b.Row(i)
				r.Intended, r.Sent, r.Done = r.Intended+shift, r.Sent+shift, r.Done+shift
				c.Append(r)
			}
			many, rows = append(many, c), rows+c.Len()
		}
	}
	f.ev.Batches = many
	look := fold.NewLook(f.open)
	updates := 0
	for behind := true; behind; updates++ {
		now, err := look.Update(t.Context())
		if err != nil || updates > 5 {
			t.Fatalf("after %d updates: %v", updates, err)
		}
		if behind = now.Behind; !behind && now.Requests != int64(rows) {
			t.Errorf("%d requests, want %d", now.Requests, rows)
		}
	}
	if updates < 2 {
		t.Errorf("%d rows were read at once", rows)
	}
}

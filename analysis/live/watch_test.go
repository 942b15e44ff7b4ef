package live_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/live"
)

// paced is a constant schedule; the server ends one request after the other, at
// the rates of the parts, each at least 20 ms after it was due.
func paced(parts []stretch, capacity func(at int64) float64) []row {
	var rows []row
	at, free := int64(0), int64(0)
	end := int64(0)
	for _, p := range parts {
		for end += int64(p.seconds * 1e9); at < end && p.lambda > 0; at += int64(1e9 / p.lambda) {
			free = max(free, at) + int64(1e9/capacity(max(free, at)))
			rows = append(rows, row{due: at, done: free + 20e6})
		}
		at = end
	}
	return rows
}

// falls is a capacity that is low within [from, to) seconds.
func falls(high, low float64, from, to int64) func(int64) float64 {
	return func(at int64) float64 {
		if at >= from*1e9 && at < to*1e9 {
			return low
		}
		return high
	}
}

func TestRaiseAndClear(t *testing.T) {
	t.Parallel()
	check := func(name string, kind live.Kind, parts []stretch, capacity func(int64) float64, raise, clear [2]float64) {
		t.Helper()
		total := 0.0
		for _, p := range parts {
			total += p.seconds
		}
		w := live.New(config(kind, parts))
		events := follow(w, paced(parts, capacity), int64(total), nil)
		within := func(events []live.Event, limits [2]float64) bool {
			if limits[1] == 0 {
				return len(events) == 0
			}
			s := 0.0
			if len(events) > 0 {
				s = float64(events[0].At) / 1e9
			}
			return len(events) == 1 && s >= limits[0] && s <= limits[1]
		}
		if !within(only(events, live.Raise), raise) || !within(only(events, live.Clear), clear) {
			t.Errorf("%s: %+v, want raised in %v and cleared in %v", name, events, raise, clear)
		}
	}
	steady := []stretch{{lambda: 100, seconds: 240}}
	never := [2]float64{}
	check("carried", live.Scheduled, steady, falls(125, 125, 0, 0), never, never)
	check("capacity lost", live.Scheduled, steady, falls(125, 80, 90, 150), [2]float64{94, 102}, [2]float64{158, 180})
	check("capacity lost, counted", live.Counted, steady, falls(125, 80, 90, 150), [2]float64{94, 104}, [2]float64{158, 180})
	check("capacity lost, ended only", live.EndedOnly, steady, falls(125, 80, 90, 150), [2]float64{94, 104}, [2]float64{158, 180})
	check("stall of 2 s", live.Scheduled, steady, falls(125, 0.5, 90, 91), never, never)
	check("silent for 10 s", live.Scheduled, steady, falls(200, 0.1, 90, 91), [2]float64{94, 99}, [2]float64{105, 130})
	check("load doubled", live.Scheduled, []stretch{{lambda: 80, seconds: 90}, {lambda: 160, seconds: 60}, {lambda: 20, seconds: 60}},
		falls(125, 125, 0, 0), [2]float64{93, 100}, [2]float64{155, 180})
	check("doubled and carried", live.Scheduled, []stretch{{lambda: 50, seconds: 90}, {lambda: 100, seconds: 90}},
		falls(125, 125, 0, 0), never, never)
	check("pause", live.Scheduled, []stretch{{lambda: 100, seconds: 90}, {lambda: 0, seconds: 60}, {lambda: 100, seconds: 60}},
		falls(125, 125, 0, 0), never, never)
}

// feed gives a watch all rows that have ended, and all arrivals, in chunks of a
// number of seconds, shuffled, before it advances to the end of the chunk.
func feed(w *live.Watch, rows []row, chunk, until int64, seed uint64) []live.Event {
	rng := seeded(seed)
	var events []live.Event
	for from := int64(0); from < until; from += chunk {
		to := min(from+chunk, until)
		for _, i := range rng.Perm(len(rows)) {
			r := rows[i]
			if r.due >= from*1e9 && r.due < to*1e9 {
				w.Due(r.due, 1)
			}
			if r.done >= from*1e9 && r.done < to*1e9 {
				r.end(w)
			}
		}
		events = append(events, w.Advance(to*1e9+seeded(seed).Int64N(1e9))...)
	}
	return events
}

// overload is a run that turns unstable at 70 s and recovers.
func overload(law int, seed uint64) ([]row, []stretch) {
	parts := []stretch{{50, 0.7, 70}, {50, 1.5, 50}, {50, 0.5, 60}}
	return simulate(laws()[law], parts, seeded(seed)), parts
}

func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds() {
		for _, law := range []int{0, 3, 6} {
			rows, parts := overload(law, 5)
			const until = 180
			want := feed(live.New(config(kind, parts)), rows, 1, until, 0)
			for i, chunk := range []int64{1, 5, 17, until} {
				got := feed(live.New(config(kind, parts)), rows, chunk, until, uint64(10+i))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, %s, chunks of %d s: %s", name, laws()[law].Name, chunk, diff)
				}
			}
			if len(only(want, live.Raise)) == 0 && kind == live.Scheduled {
				t.Errorf("%s: nothing raised", laws()[law].Name)
			}
		}
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	rows, parts := overload(0, 6)
	for _, kind := range kinds() {
		want := follow(live.New(config(kind, parts)), rows, 180, nil)
		w := live.New(config(kind, parts))
		var got []live.Event
		for at := int64(0); at < 180; at++ {
			for _, r := range rows {
				if r.due >= at*1e9 && r.due < (at+1)*1e9 {
					w.Due(r.due, 1)
				}
				if r.done >= at*1e9 && r.done < (at+1)*1e9 {
					r.end(w)
				}
			}
			old := w
			w = w.Clone()
			got = append(got, w.Advance((at+1)*1e9)...)
			old.Due(at*1e9, 1000) // must not be seen by the copy
			old.Ended(0, at*1e9)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("copied every second: %s", diff)
		}
	}
}

// TestShift moves a run in time by whole seconds.
func TestShift(t *testing.T) {
	t.Parallel()
	rows, _ := overload(1, 7)
	const by = int64(1_790_000_000e9)
	moved := make([]row, len(rows))
	for i, r := range rows {
		moved[i] = row{due: r.due + by, done: r.done + by}
	}
	rate := func(int64) float64 { return 50 }
	for _, kind := range kinds() {
		want := feed(live.New(live.Config{Kind: kind, Rate: rate}), rows, 1, 180, 1)
		w := live.New(live.Config{Kind: kind, Rate: rate})
		var got []live.Event
		for at := int64(1); at <= 180; at++ {
			for _, r := range moved {
				if r.due >= by+(at-1)*1e9 && r.due < by+at*1e9 {
					w.Due(r.due, 1)
				}
				if r.done >= by+(at-1)*1e9 && r.done < by+at*1e9 {
					r.end(w)
				}
			}
			for _, e := range w.Advance(by + at*1e9) {
				e.At, e.Seen = e.At-by, e.Seen-by
				got = append(got, e)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("moved by %d s: %s", by/1e9, diff)
		}
	}
}

func TestLateRows(t *testing.T) {
	t.Parallel()
	rows, parts := overload(0, 8)
	w := live.New(config(live.EndedOnly, parts))
	follow(w, rows, 120, nil)
	w.Ended(0, 1e9)        // long dropped
	w.Ended(100e9, 110e9)  // still kept
	w.Ended(119e9, 9000e9) // too far ahead
	if got := w.Stats(); got.Late != 2 || got.Clamped != 1 {
		t.Errorf("%+v", got)
	}
	if got := live.New(live.Config{}).Advance(math.MaxInt64); got != nil {
		t.Errorf("an empty watch says %v", got)
	}
}

// TestNothingGrows is a property: a run that never has over five in flight is
// never raised, whatever the schedule claims.
func TestNothingGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]live.Kind{live.Scheduled, live.Counted, live.EndedOnly}).Draw(t, "kind")
		lambda := rapid.Float64Range(0.1, 1e6).Draw(t, "rate")
		w := live.New(live.Config{Kind: kind, Rate: func(int64) float64 { return lambda }})
		at := int64(0)
		for range rapid.IntRange(1, 300).Draw(t, "requests") {
			at += rapid.Int64Range(0, 2e9).Draw(t, "gap")
			took := rapid.Int64Range(0, 1e9).Draw(t, "took")
			for range rapid.IntRange(1, 4).Draw(t, "n") {
				w.Due(at, 1)
				w.Ended(at, at+took)
			}
			at += took
			for _, e := range w.Advance(at - 1e9) {
				if e.Kind != live.Suspect {
					t.Fatalf("%+v", e)
				}
			}
		}
	})
}

// TestBounded feeds 20,000 requests a second in overload and holds the watch
// against its memory, fed in time and 200 s ahead.
func TestBounded(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds() {
		w := live.New(live.Config{Kind: kind, Rate: func(int64) float64 { return 20_000 }})
		most := 0
		for sec := range int64(300) {
			for i := range int64(20_000) {
				due := sec*1e9 + i*50_000
				w.Due(due, 1)
				if i%5 != 0 {
					w.Ended(due, due+min(sec, 30)*1e9/3+i*7919%1e9)
				}
			}
			if sec < 60 || sec > 260 {
				w.Advance(sec * 1e9)
			}
			most = max(most, w.Size())
		}
		if most > 1<<20 {
			t.Errorf("%d bytes", most)
		}
	}
}

func TestDueBetween(t *testing.T) {
	t.Parallel()
	parts := []stretch{{100, 1.4, 60}}
	rows := simulate(laws()[0], parts, seeded(3))
	w := live.New(config(live.Scheduled, parts))
	var events []live.Event
	for sec := int64(1); sec <= 60; sec++ {
		n := int64(0)
		for _, r := range rows {
			if r.due/1e9 == sec-1 {
				n++
			}
			if r.done/1e9 == sec-1 {
				r.end(w)
			}
		}
		w.DueBetween((sec-1)*1e9, sec*1e9, n+7)
		w.Due(sec*1e9-1, -7) // dropped after all
		events = append(events, w.Advance(sec*1e9)...)
	}
	if r := only(events, live.Raise); len(r) != 1 || r[0].Growth < 5 || r[0].Offered != 100 || r[0].Capacity > 100 {
		t.Errorf("%+v", events)
	}
}

// TestFinish: a watch that stays behind by the longest response sees the end of a
// run once it is told that this was the end.
func TestFinish(t *testing.T) {
	t.Parallel()
	parts := []stretch{{lambda: 100, seconds: 60}}
	rows := paced(parts, falls(200, 10, 52, 75))
	for i := range rows {
		rows[i].done = min(rows[i].done, 70e9)
	}
	w := live.New(live.Config{Kind: live.EndedOnly, Rate: rates(parts)})
	before := only(follow(w, rows, 71, nil), live.Raise)
	after := only(w.Finish(), live.Raise)
	if len(before)+len(after) != 1 || len(after) != 1 || after[0].At > 60e9 || after[0].Seen != 71e9 {
		t.Errorf("raised %+v, then %+v", before, after)
	}
	if again := w.Finish(); len(again) > 0 || live.New(live.Config{}).Finish() != nil {
		t.Errorf("raised again: %+v", again)
	}
}

package live_test

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The bars are what live alerts promise. The short form runs always; the full
// form is
//
//	go test ./analysis/live -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of live detection in full")

// kinds are the three ways in which arrivals are known.
func kinds() map[string]live.Kind {
	return map[string]live.Kind{"scheduled": live.Scheduled, "counted": live.Counted, "ended only": live.EndedOnly}
}

// some are all laws, or in the short form some of them, sharp, bursty and even.
func some() []sim.System {
	s := laws()
	if *fullBars {
		return s
	}
	return []sim.System{s[0], s[2], s[5]}
}

// delays are the times from onset to alarm; 121 s stands for none.
type delays []float64

func (d delays) quantile(q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[min(len(d)-1, int(q*float64(len(d))))]
}

func (d delays) missed() float64 {
	n := 0
	for _, v := range d {
		if v > 120 {
			n++
		}
	}
	return 100 * float64(n) / float64(max(1, len(d)))
}

func (d delays) String() string {
	return fmt.Sprintf("median %.1f p90 %.1f missed %.1f %% (%d)", d.quantile(0.5), d.quantile(0.9), d.missed(), len(d))
}

// onset simulates an overload that begins inside a run, and returns the delay.
func onset(s sim.System, lambda, from, to float64, lost bool, kind live.Kind, seed uint64) (delay float64, early bool) {
	rng := seeded(seed)
	begin := 60 + float64(rng.IntN(600))/10
	before := lambda
	if !lost {
		before = lambda * from / to
	}
	parts := []stretch{{before, from, begin}, {lambda, to, 122}}
	rows := simulate(s, parts, rng)
	w := live.New(config(kind, parts))
	alarms := only(follow(w, rows, int64(begin)+121, raised), live.Raise)
	switch {
	case len(alarms) == 0:
		return 121, false
	case float64(alarms[0].At)/1e9 < begin:
		return 0, true
	}
	return float64(alarms[0].Seen)/1e9 - begin, false
}

// run is one onset: every law, start and repetition has random numbers of its own,
// so that no luck is shared.
type run struct {
	system sim.System
	from   float64
	lost   bool
	seed   uint64
}

// measureOnsets pools laws, starts and both causes.
func measureOnsets(lambda, to float64, kind live.Kind, reps int, lost []bool) (d delays, early int) {
	var runs []run
	for k, s := range some() {
		for i, from := range []float64{0.5, 0.7, 0.85, 0.9} {
			for r := range reps {
				for _, l := range lost {
					runs = append(runs, run{s, from, l, uint64(1_000_000*k + 100_000*i + r)})
				}
			}
		}
	}
	type answer struct {
		delay float64
		early bool
	}
	answers := make([]answer, len(runs))
	each(len(runs), func(i int) {
		r := runs[i]
		delay, tooSoon := onset(r.system, lambda, r.from, to, r.lost, kind, r.seed)
		answers[i] = answer{delay, tooSoon}
	})
	for _, a := range answers {
		if a.early {
			early++
			continue
		}
		d = append(d, a.delay)
	}
	return d, early
}

// each calls fn for 0 to n−1, two at a time.
func each(n int, fn func(int)) {
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			for i := k; i < n; i += 2 {
				fn(i)
			}
		})
	}
	wg.Wait()
}

func TestBarsFalseAlarms(t *testing.T) {
	t.Parallel()
	type load struct{ lambda, hours float64 } // hours of each law and load
	loads := []load{{20, 0.1}, {100, 0.05}}
	if *fullBars {
		loads = []load{{20, 1.2}, {100, 1.2}, {500, 0.25}}
	}
	for _, name := range []string{"scheduled", "counted"} {
		pooled, hours, collecting := 0, 0.0, 0
		for _, l := range loads {
			for _, rho := range []float64{0.5, 0.7, 0.85, 0.9} {
				n, suspected, said := 0, 0, ""
				for i, s := range some() {
					parts := []stretch{{l.lambda, rho, l.hours * 3600}}
					rows := simulate(s, parts, seeded(uint64(100*l.lambda+1000*rho)+uint64(i)<<32))
					events := follow(live.New(config(kinds()[name], parts)), rows, int64(l.hours*3600), nil)
					if r := len(only(events, live.Raise)); r > 0 {
						n += r
						said += fmt.Sprintf(" %s %d", s.Name, r)
						if rho <= 0.85 && s.Name == "stalls 0.2 s in 5 s on 8" {
							collecting += r
						}
					}
					suspected += len(only(events, live.Suspect))
				}
				t.Logf("%s %v/s rho %-4v: %d raised, %d suspected in %.1f h%s", name, l.lambda, rho, n, suspected, float64(len(some()))*l.hours, said)
				if rho <= 0.85 {
					pooled, hours = pooled+n, hours+float64(len(some()))*l.hours
				}
			}
		}
		// A short form of 3 h may hold one.
		bars.Bar{
			Number: "live", Text: name + ", rho <= 0.85: false alarms in 20 h", Unit: "alarms",
			Of: fmt.Sprintf("%d in %.1f h", pooled, hours), Slack: max(0, 20/hours-1),
		}.AtMost(t, 20*float64(pooled)/hours, 1)
		bars.Bar{Number: "live", Text: name + ", stalls of 0.2 s every 5 s, rho <= 0.85: alarms", Unit: "alarms", Of: "the runs above"}.
			AtMost(t, float64(collecting), 0)
	}
}

// TestBarsOnset measures delays from onset to alarm. The limits are those of the
// study with room for its noise and ours.
func TestBarsOnset(t *testing.T) {
	t.Parallel()
	limits := map[string]map[float64]map[float64][2]float64{
		"scheduled":  {20: {1.05: {70, 121}, 1.1: {33, 121}, 1.25: {13, 28}, 2: {7, 11}}, 100: {1.05: {22, 65}, 1.1: {10, 32}, 1.25: {7, 12}, 2: {5, 7}}},
		"counted":    {20: {1.25: {36, 121}, 2: {11, 28}}, 100: {1.1: {50, 121}, 1.25: {13, 121}, 2: {7, 14}}},
		"ended only": {20: {1.25: {66, 121}, 2: {33, 121}}, 100: {1.1: {70, 121}, 1.25: {26, 121}, 2: {16, 74}}},
	}
	reps, slack := 1, 1.5
	if *fullBars {
		reps, slack = 4, 1
	}
	for _, name := range []string{"scheduled", "counted", "ended only"} {
		for _, lambda := range []float64{20, 100} {
			for _, to := range []float64{1.05, 1.1, 1.25, 2} {
				if !*fullBars && (to < 1.25 || lambda == 20 && to == 1.25) {
					continue
				}
				n := reps
				if name != "scheduled" {
					n = max(1, reps/2)
				}
				d, early := measureOnsets(lambda, to, kinds()[name], n, []bool{true, false})
				t.Logf("%-10s %3v/s %-4v: %v, %d raised before", name, lambda, to, d, early)
				limit, ok := limits[name][lambda][to]
				if ok && (d.quantile(0.5) > slack*limit[0]+1 || d.quantile(0.9) > slack*limit[1]+2) {
					t.Errorf("%s %v/s %v: %v, at most %v", name, lambda, to, d, limit)
				}
			}
		}
	}
}

// TestBarsLostCapacity is the bar of a run at 100/s with a schedule whose server
// loses capacity in mid-step. At 768 runs the noise is about 0.5 s in the median
// and 1 s in the ninth decile.
func TestBarsLostCapacity(t *testing.T) {
	t.Parallel()
	reps, slack := 2, 0.5
	if *fullBars {
		reps, slack = 24, 0
	}
	for _, c := range [][3]float64{{1.1, 16, 35}, {1.25, 8, 14}, {2, 6, 7}} {
		d, _ := measureOnsets(100, c[0], live.Scheduled, reps, []bool{true})
		t.Logf("lost capacity, 100/s scheduled, %v: %v", c[0], d)
		for i, q := range []float64{0.5, 0.9} {
			bars.Bar{
				Number: "live", Text: fmt.Sprintf("100/s scheduled, capacity lost, rho %v: delay, quantile %v", c[0], q), Unit: "s",
				Of: fmt.Sprintf("%d runs", len(d)), Slack: slack * (c[i+1] + 2),
			}.AtMost(t, d.quantile(q), c[i+1])
		}
	}
}

// TestBarsStall stops the server once, for 2 s, at rho 0.7.
func TestBarsStall(t *testing.T) {
	t.Parallel()
	loads, reps := []float64{20, 100}, 3
	lengths := []float64{2}
	if *fullBars {
		loads, reps, lengths = []float64{20, 100, 500}, 17, []float64{1, 2, 4}
	}
	for _, length := range lengths {
		runs, raises, counted := 0, 0, 0
		for _, lambda := range loads {
			for _, s := range some()[:min(7, len(some()))] {
				for r := range reps {
					parts := []stretch{{lambda, 0.7, 120}}
					station := s.Server(lambda / 0.7)
					station.StopAtS, station.StopS = 80+float64(r%10)/10, length
					system := sim.NewSystem(s.Name, s.Sharp, s.Arrivals, func(float64) sim.Server { return station })
					rows := simulate(system, parts, seeded(uint64(r)+900))
					runs++
					raises += len(only(follow(live.New(config(live.Scheduled, parts)), rows, 120, raised), live.Raise))
					counted += len(only(follow(live.New(config(live.Counted, parts)), rows, 120, raised), live.Raise))
				}
			}
		}
		t.Logf("stall of %v s: %d alarms in %d runs, counted %d", length, raises, runs, counted)
		if length <= 2 {
			bar := bars.Bar{Number: "live", Text: fmt.Sprintf("one stall of %v s at rho 0.7, scheduled: alarms", length), Unit: "alarms", Of: fmt.Sprintf("%d runs", runs)}
			bar.AtMost(t, float64(raises), 0)
			bar.Text, bar.Unit = fmt.Sprintf("one stall of %v s at rho 0.7, counted: alarms", length), ""
			bar.AtMost(t, 100*float64(counted)/float64(runs), 1)
		}
	}
}

// TestBarsClear measures how long an alarm stays after 60 s of overload.
func TestBarsClear(t *testing.T) {
	t.Parallel()
	reps, slack := 1, 1.5
	if *fullBars {
		reps, slack = 4, 1
	}
	for _, lambda := range []float64{20, 100} {
		for _, back := range []float64{0.5, 0.7, 0.85} {
			var d delays
			again, unraised := 0, 0
			for _, s := range some() {
				for i, over := range []float64{1.1, 1.25, 2} {
					for r := range reps {
						parts := []stretch{{lambda, 0.7, 70}, {lambda, over, 60}, {lambda, back, 120}}
						rows := simulate(s, parts, seeded(uint64(300+10*i+r)))
						events := follow(live.New(config(live.Scheduled, parts)), rows, 250, nil)
						delay, ok := clearing(events, 130)
						if !ok {
							unraised++
							continue
						}
						d = append(d, delay)
						if over := only(events, live.Raise); over[len(over)-1].At > 130e9 && delay < 121 {
							again++
						}
					}
				}
			}
			t.Logf("clear %3v/s back to %-4v: %v, %d raised again, %d not standing at the end", lambda, back, d, again, unraised)
			bars.Bar{
				Number: "live", Text: fmt.Sprintf("%v/s, back to rho %v: median time to clear", lambda, back), Unit: "s",
				Of: fmt.Sprintf("%d runs", len(d)), Slack: 22 * (slack - 1),
			}.AtMost(t, d.quantile(0.5), 22)
		}
	}
}

// clearing is the time from the end of an overload to the clear event of the
// alarm that stood then; false when none stood.
func clearing(events []live.Event, end float64) (float64, bool) {
	standing := false
	for _, e := range events {
		switch s := float64(e.At) / 1e9; {
		case e.Kind == live.Raise && s <= end:
			standing = true
		case e.Kind == live.Clear && s <= end:
			standing = false
		case e.Kind == live.Clear && standing:
			return s - end, true
		}
	}
	return 121, standing
}

// TestBarsClearedTooEarly counts clear events in overload that goes on.
func TestBarsClearedTooEarly(t *testing.T) {
	t.Parallel()
	reps := 1
	if *fullBars {
		reps = 10
	}
	for lambda, limit := range map[float64]float64{20: 4, 100: 2} {
		cleared, hours := 0, 0.0
		for _, s := range some() {
			for i, over := range []float64{1.1, 1.25} {
				for r := range reps {
					parts := []stretch{{lambda, 0.7, 70}, {lambda, over, 150}}
					rows := simulate(s, parts, seeded(uint64(500+20*i+r)))
					events := follow(live.New(config(live.Scheduled, parts)), rows, 220, nil)
					if over := only(events, live.Raise); len(over) > 0 {
						hours += (220 - float64(over[0].At)/1e9) / 3600
					}
					cleared += len(only(events, live.Clear))
				}
			}
		}
		t.Logf("cleared too early at %v/s: %d in %.1f h of overload, %.1f per hour", lambda, cleared, hours, float64(cleared)/hours)
		if float64(cleared) > 3+limit*hours {
			t.Errorf("%v/s: %d in %.1f h", lambda, cleared, hours)
		}
	}
}

// TestBarsSpansOnly is what a generator with a declared rate gives that reports
// requests only when they end: clients give up after 2 s, the server loses
// capacity. The delay is from onset until the rows that show it have ended.
func TestBarsSpansOnly(t *testing.T) {
	t.Parallel()
	reps := 2
	if *fullBars {
		reps = 20
	}
	for over, limit := range map[float64]float64{1.25: 11, 2: 9} {
		var d, suspect delays
		for _, s := range some() {
			for r := range reps {
				parts := []stretch{{100, 0.7, 60}, {100, over, 122}}
				rows := simulate(s, parts, seeded(uint64(700+r)))
				timeout(rows, 2)
				w := live.New(live.Config{Kind: live.EndedOnly, Rate: rates(parts), Timeout: 2e9})
				first, doubted := 121.0, 121.0
				for _, e := range follow(w, rows, 181, raised) {
					if e.Kind == live.Suspect {
						doubted = min(doubted, float64(e.Seen)/1e9-60)
					} else {
						first = min(first, float64(e.Seen)/1e9-60)
					}
				}
				d, suspect = append(d, first), append(suspect, doubted)
			}
		}
		t.Logf("spans only, rate declared, time-out of 2 s, 100/s %v: %v (at most %v); suspected %v", over, d, limit, suspect)
		if d.quantile(0.5) > limit+1 {
			t.Errorf("%v: %v, at most %v", over, d, limit)
		}
	}
}

// TestBarsHealthy runs sound loads of half an hour in the forms that arrivals are
// known only from ended requests.
func TestBarsHealthy(t *testing.T) {
	t.Parallel()
	reps, seconds := 1, 300.0
	if *fullBars {
		reps, seconds = 3, 1800
	}
	for _, c := range []struct {
		name     string
		declared bool
		timeout  float64
	}{{"rate declared, time-out 2 s", true, 2}, {"rate declared", true, 0}, {"rate counted", false, 0}} {
		n, sound, lossy, said := 0, 0, 0, ""
		for i, s := range some() {
			for r := range reps {
				parts := []stretch{{100, 0.85, seconds}}
				cfg := live.Config{Kind: live.EndedOnly, Timeout: int64(c.timeout * 1e9)}
				if c.declared {
					cfg.Rate = rates(parts)
				}
				rows := simulate(s, parts, seeded(uint64(4000+r)+uint64(i)<<32))
				if c.timeout > 0 {
					timeout(rows, c.timeout)
					if lostMore(rows, 0.01) {
						lossy++ // not a sound load, even if its server is under its capacity
						continue
					}
				}
				sound++
				if k := len(only(follow(live.New(cfg), rows, int64(seconds), nil), live.Raise)); k > 0 {
					n += k
					said += fmt.Sprintf(" %s %d", s.Name, k)
				}
			}
		}
		hours := float64(sound) * seconds / 3600
		t.Logf("healthy, ended only, %s, 100/s rho 0.85: %d raised in %.1f h%s; %d runs in which over 1 %% gave up left out",
			c.name, n, hours, said, lossy)
		if float64(n) > 1+hours/10 {
			t.Errorf("%s: %d in %.1f h", c.name, n, hours)
		}
	}
}

// lostMore reports that over a share of clients gave up.
func lostMore(rows []row, share float64) bool {
	n := 0
	for _, r := range rows {
		if r.gone {
			n++
		}
	}
	return float64(n) > share*float64(len(rows))
}

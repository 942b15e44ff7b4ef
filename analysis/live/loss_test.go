package live_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/live"
)

// TestTimeOuts looks at clients that give up after 2 s: they keep the number in
// flight level, and the load is not served for all that.
func TestTimeOuts(t *testing.T) {
	t.Parallel()
	steady := []stretch{{lambda: 100, seconds: 260}}
	hole := func(share int) []row { // every so many requests are never answered
		rows := paced(steady, falls(200, 200, 0, 0))
		for i := range rows {
			if i%share == 0 {
				rows[i].done, rows[i].gone = rows[i].due+2e9, true
			}
		}
		return rows
	}
	overloaded := func(low float64) []row {
		rows := paced(steady, falls(140, low, 90, 150))
		timeout(rows, 2)
		return rows
	}
	check := func(name string, rows []row, raise, clear [2]float64, lost bool) {
		t.Helper()
		for _, kind := range []live.Kind{live.Scheduled, live.EndedOnly} {
			w := live.New(live.Config{Kind: kind, Rate: rates(steady), Timeout: 2e9})
			events := follow(w, rows, 260, nil)
			up, down := only(events, live.Raise), only(events, live.Clear)
			if raise[1] == 0 {
				if len(up) > 0 {
					t.Errorf("%s: %+v", name, up)
				}
				continue
			}
			if len(up) != 1 || float64(up[0].At)/1e9 < raise[0] || float64(up[0].At)/1e9 > raise[1] {
				t.Errorf("%s: raised %+v, want in %v", name, up, raise)
			}
			if clear[1] > 0 && (len(down) != 1 || float64(down[0].At)/1e9 < clear[0] || float64(down[0].At)/1e9 > clear[1]) {
				t.Errorf("%s: cleared %+v, want in %v", name, down, clear)
			}
			if len(up) == 1 && lost != (up[0].Lost > 0) {
				t.Errorf("%s: %+v, want clients lost: %v", name, up[0], lost)
			}
		}
	}
	check("one in 33 never answered", hole(33), [2]float64{}, [2]float64{}, false)
	check("one in five never answered", hole(5), [2]float64{}, [2]float64{}, false)
	check("80 of 100 served", overloaded(80), [2]float64{94, 102}, [2]float64{160, 200}, false)
	check("50 of 100 served", overloaded(50), [2]float64{94, 98}, [2]float64{160, 240}, true)
}

// TestNoClearWithoutAnswers: clients that give up empty a dead server. That is no
// recovery, whether the load goes on or has ended; answers are one.
func TestNoClearWithoutAnswers(t *testing.T) {
	t.Parallel()
	check := func(name string, load float64, revives, cleared bool) {
		t.Helper()
		parts := []stretch{{lambda: 100, seconds: 120}, {lambda: load, seconds: 200}}
		rows := paced(parts, falls(140, 0.001, 90, 91))
		for i := range rows {
			if revives && rows[i].due > 160e9 {
				rows[i].done = rows[i].due + 20e6
			}
		}
		timeout(rows, 10)
		for _, kind := range []live.Kind{live.Scheduled, live.EndedOnly} {
			w := live.New(live.Config{Kind: kind, Rate: rates(parts), Timeout: 10e9})
			events := follow(w, rows, 320, nil)
			if up := only(events, live.Raise); len(up) != 1 || up[0].At > 100e9 {
				t.Errorf("%s: raised %+v", name, up)
			}
			if down := only(events, live.Clear); (len(down) == 1) != cleared || len(down) > 1 {
				t.Errorf("%s: cleared %+v", name, down)
			}
		}
	}
	check("dead, the load goes on", 100, false, false)
	check("dead, a light load goes on", 2, false, false)
	check("dead, the load ends", 0, false, false)
	check("answers again", 100, true, true)
	check("answers a light load again", 5, true, true)
}

package live_test

import (
	"flag"
	"fmt"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// The bars are what live alerts promise. The short form runs always; the full
// form is
//
//	go test ./analysis/live -run Bars -bars -v -timeout 60m
var fullBars = flag.Bool("bars", false, "measure the bars of live detection in full")

// kinds are the three ways in which arrivals are known.
func kinds() map[string]live.Kind {
	return map[string]live.Kind{"scheduled": live.Scheduled, "counted": live.Counted, "ended only": live.EndedOnly}
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
	return fmt.Sprintf("median %3.0f p90 %3.0f missed %4.1f %% (%d)", d.quantile(0.5), d.quantile(0.9), d.missed(), len(d))
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
	for _, e := range only(follow(w, rows, int64(begin)+121, raised), live.Raise) {
		if float64(e.At)/1e9 < begin {
			return 0, true
		}
		return float64(e.Seen)/1e9 - begin, false
	}
	return 121, false
}

// measureOnsets pools laws, starts and both causes.
func measureOnsets(lambda, to float64, kind live.Kind, reps int, lost []bool) (d delays, early int) {
	for _, s := range laws() {
		for i, from := range []float64{0.5, 0.7, 0.85, 0.9} {
			for r := range reps {
				for _, l := range lost {
					delay, tooSoon := onset(s, lambda, from, to, l, kind, uint64(1000*i+r))
					if tooSoon {
						early++
						continue
					}
					d = append(d, delay)
				}
			}
		}
	}
	return d, early
}

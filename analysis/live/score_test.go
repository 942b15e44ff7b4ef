package live

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// TestScoreIsTheLikelihood holds the sums over nested windows against the plain
// procedure of package stability, on the exact path.
func TestScoreIsTheLikelihood(t *testing.T) {
	t.Parallel()
	compared, apart := 0, 0
	for _, s := range sim.Grid() {
		for _, rho := range []float64{0.9, 1.1, 1.5} {
			requests := s.Run(100, rho, 80, rand.New(rand.NewPCG(4, 4)))
			a, d := sim.Paths(requests)
			w := New(Config{Rate: func(int64) float64 { return 100 }})
			for _, q := range requests {
				w.Due(q.Intended, 1)
				w.Ended(q.Intended, q.Done)
			}
			for sec := int64(10); sec < 80; sec += 7 {
				e := w.score(sec, w.line.inFlight(sec))
				if e.Z == 0 {
					continue
				}
				path := stability.FromPath(a, d, (sec-int64(e.WindowS))*second, sec*second)
				want := stability.Evaluate(&path, stability.Rate{PerS: 100, Known: true})
				compared++
				if math.Abs(e.Z-want.Z) > 0.1+0.03*math.Abs(want.Z) || math.Abs(e.Capacity/want.Capacity.Value-1) > 0.05 {
					apart++
					t.Logf("%s rho %v at %d: window %v: Z %v, capacity %v; want %v, %v",
						s.Name, rho, sec, e.WindowS, e.Z, e.Capacity, want.Z, want.Capacity.Value)
				}
			}
		}
	}
	// Arrivals are spread over tenths of a second here, which can tip the choice
	// between two candidates that are about equally likely.
	if 50*apart > compared {
		t.Errorf("%d of %d windows differ", apart, compared)
	}
	if compared < 100 {
		t.Errorf("only %d windows compared", compared)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	w := New(Config{Rate: func(int64) float64 { return 50 }})
	for i := range int64(500) {
		w.Due(i*second/50, 1)
	}
	e := w.score(10, 500)
	if want := -math.Sqrt(2 * 8 * 50); e.WindowS != 8 || math.Abs(e.Z-want) > 1e-9 {
		t.Errorf("nothing ended: %+v, want Z %v over 8 s", e, want)
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	check := func(name string, due, ended []int64, wantTime map[int]int64, wantLeft map[int]int64) {
		t.Helper()
		w := New(Config{})
		for _, at := range due {
			w.Due(at, 1)
		}
		for _, at := range ended {
			w.Ended(at, at)
		}
		time, left := map[int]int64{}, map[int]int64{}
		slot := 0
		p := path{line: &w.line, visit: func(s, l int, ns, d int64) {
			if s < slot || s >= 80 {
				t.Errorf("%s: slot %d after %d", name, s, slot)
			}
			slot = s
			time[l] += ns
			left[l] += d
		}}
		p.walk(0, 2, 0, &scratch{})
		for l, ns := range time {
			if wantTime[l] != ns || wantLeft[l] != left[l] {
				t.Errorf("%s: level %d: %d ns, %d left; want %d, %d", name, l, ns, left[l], wantTime[l], wantLeft[l])
			}
		}
	}
	const ms = int64(1e6)
	check("empty", nil, nil, map[int]int64{0: 2 * second}, nil)
	// One arrival in a tenth stands in its middle.
	check("one", []int64{10 * ms}, []int64{250 * ms},
		map[int]int64{0: 2*second - 200*ms, 1: 200 * ms}, map[int]int64{1: 1})
	check("same cell", []int64{50 * ms, 1050 * ms}, []int64{1050 * ms, 1050 * ms},
		map[int]int64{0: second, 1: second}, map[int]int64{2: 1, 1: 1})
	check("left before it came", []int64{10 * ms}, []int64{20 * ms},
		map[int]int64{0: 2 * second}, map[int]int64{1: 1})
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, n := range []int32{0, 1, 3, 99, 100, 101, 257, 2000} {
		counts := [tenths]int32{2: n}
		var to [cells]uint16
		expand(&counts, &to)
		total, least, most := 0, to[200], to[200]
		for i, c := range to {
			total += int(c)
			if i/100 == 2 {
				least, most = min(least, c), max(most, c)
			} else if c != 0 {
				t.Errorf("%d: %d in cell %d", n, c, i)
			}
		}
		if total != int(n) || most-least > 1 {
			t.Errorf("%d: %d in all, %d to %d a cell", n, total, least, most)
		}
	}
}

func TestEndsByCell(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 5, 999, 1000, 1001, 20_000} {
		var (
			b    block
			want [cells]uint16
			got  [cells]uint16
			room = exactRoom
		)
		for range n {
			c := rng.IntN(cells)
			want[c]++
			room -= b.end(c, room)
		}
		if b.expandEnds(&got); got != want {
			t.Errorf("%d ends are not where they were put", n)
		}
		if used := exactRoom - room; used > 2048 || used != 2*cap(b.ends) {
			t.Errorf("%d ends take %d bytes, %d counted", n, 2*cap(b.ends), used)
		}
	}
	var b block
	b.end(3, 1000)
	b.end(950, 0) // fits what is there
	for range 20 {
		b.end(950, 0)
	}
	var got [cells]uint16
	if b.expandEnds(&got); !b.coarse || b.leftSum() != 22 || slices.Index(got[:], 1) != 50 {
		t.Errorf("without room: %+v", b)
	}
}

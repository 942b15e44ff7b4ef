package stability

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRoot checks both solutions of y − 1 − ln y = a.
func TestRoot(t *testing.T) {
	t.Parallel()
	for _, a := range []float64{0, 1e-9, 1e-4, 0.01, 0.5, 3, 40} {
		up, down := root(a, true), root(a, false)
		for _, y := range []float64{up, down} {
			if got := y - 1 - math.Log(y); math.Abs(got-a) > 1e-9*max(1, a) {
				t.Errorf("a %v: y %v gives %v", a, y, got)
			}
		}
		if up < 1 || down > 1 || down <= 0 {
			t.Errorf("a %v: roots %v and %v", a, down, up)
		}
	}
}

// known is the occupancy of a server that really works at 100·min(1, n/4).
func known(rng *rand.Rand) *Occupancy {
	var o Occupancy
	for n := range 40 {
		s := 0.5 + 3*rng.Float64()
		rate := 100 * min(1, float64(n)/4)
		o.Add(LevelOf(n), int64(s*1e9), int64(s*rate+0.5))
	}
	return &o
}

func TestFitFindsCapacity(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	fs := fitAll(known(rng))
	best, ok := fs.best()
	c := best.capacity(fs.d)
	lo, hi := fs.interval(profileDrop)
	if !ok || best.shape != plateau || math.Abs(c-100) > 2 || lo > 100 || hi < 100 || hi-lo > 15 {
		t.Errorf("shape %d m %v: %v (%v to %v)", best.shape, best.m, c, lo, hi)
	}
	if r := fs.ratio(80, false); r <= 0 {
		t.Errorf("80/s is below capacity, ratio %v", r)
	}
	if r := fs.ratio(120, false); r >= 0 {
		t.Errorf("120/s is above capacity, ratio %v", r)
	}
}

// TestRatioAgainstScan maximises over a fine scan of C.
func TestRatioAgainstScan(t *testing.T) {
	t.Parallel()
	fs := fitAll(known(rand.New(rand.NewPCG(2, 2))))
	for _, lambda := range []float64{70, 95, 99, 101, 130} {
		for _, flat := range []bool{false, true} {
			above, under := math.Inf(-1), math.Inf(-1)
			for _, f := range fs.all {
				if flat && f.shape != plateau {
					continue
				}
				for i := range 8001 {
					c := lambda * math.Exp(float64(i-4000)/1000)
					if l := f.at(c, fs.d); c >= lambda {
						above = max(above, l)
					} else {
						under = max(under, l)
					}
				}
				under = max(under, f.at(lambda, fs.d))
			}
			if got := fs.ratio(lambda, flat); math.Abs(got-(above-under)) > 0.01 {
				t.Errorf("lambda %v flat %v: ratio %v, scan %v", lambda, flat, got, above-under)
			}
		}
	}
}

// TestUnboundedCapacity: a server that was never full has no known capacity.
func TestUnboundedCapacity(t *testing.T) {
	t.Parallel()
	var o Occupancy
	for n := 1; n < 8; n++ {
		o.Add(n, 10e9, int64(10*n)) // each request takes a second, whatever n
	}
	fs := fitAll(&o)
	if lo, hi := fs.interval(profileDrop); !math.IsInf(hi, 1) || lo <= 0 {
		t.Errorf("capacity between %v and %v", lo, hi)
	}
}

func TestDispersion(t *testing.T) {
	t.Parallel()
	if d := dispersion([]float64{5, 5, 5, 5}); d != 0 {
		t.Errorf("equal counts: %v", d)
	}
	if d := dispersion([]float64{0, 10, 0, 10}); math.Abs(d-100.0/3/5) > 1e-12 {
		t.Errorf("alternating counts: %v", d)
	}
	if d := dispersion(make([]float64, 20)); d != 1 {
		t.Errorf("nothing counted: %v", d)
	}
}

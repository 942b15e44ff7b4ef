package counts

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// Evidence is everything that is measured on the judged intervals.
type Evidence struct {
	Intervals int     // judged, after the cut and after joining
	WindowS   float64 // T
	Ended     float64 // ΣD
	Dropped   float64 // Σd
	Offered   float64 // λ per second: declared, else ended + dropped + change in flight
	EndedPerS float64 // X, without what single exports hold too much or too little

	InFlight []float64 // L_i by Little's law
	Mean     float64   // of L_i, weighted by time
	First    float64   // mean of L over the first half
	Second   float64
	Level    []float64 // N_k at the ends, Level[0] at the start
	Path     Path      // what the levels are known by

	S2         float64 // dispersion of what ended
	G          float64 // growth between halves
	E          float64 // growth between ends
	Z          float64 // 0.7·ZAll + 0.3·ZPlateau
	ZAll       float64
	ZPlateau   float64
	V          float64 // wandering of L_i + dropped so far
	R          float64 // range of N_k + dropped so far
	VMost      float64 // the bar of V
	RMost      float64 // the bar of R
	GBar       float64 // the bar of G
	MeanS      float64 // W, mean duration
	UnloadedS  float64 // W0
	CapacityUp float64 // C_up; 0 where no limit was reached or W0 is not below W
	Limit      float64 // workers at the limit that was reached; 0 when none was
}

// Path says what the levels in flight at the ends of intervals are known by.
type Path string

// Paths, best first.
const (
	PathPace   Path = "pace"   // declared pace less what was dropped and what ended: exact changes
	PathGauge  Path = "gauge"  // a sampled gauge, or starts less ends
	PathLittle Path = "little" // nothing but Little's law: never stable on this
)

// Constants of the rule.
const (
	warmUp     = 0.1
	blockMost  = 5.0  // cv² of durations counts up to this
	atLimit    = 0.95 // of the workers busy: the limit is reached
	shortE     = 5.0  // seconds below which single samples of the gauge wander more
	subSteps   = 8    // of an interval, on the straight path between levels
	allWeight  = 0.7
	calmV      = 0.12
	calmGrowth = 0.016 // share of the load whose growth would have shown
	calmR      = 0.48
	calmRShort = 0.78
	growG      = 1.9
	growGMore  = 15.0
	flushS     = 1.0 // between which generators hand over their samples
)

// window is the judged part of an input.
type window struct {
	in     Input
	cut    int       // first judged interval
	e      []float64 // seconds of each interval
	held   []float64 // seconds of load that its counts hold, see clock
	t      float64
	ev     *Evidence
	d      []float64 // dropped so far at the end of each interval, from 0 at the cut
	uneven bool      // exports met flushes in turn
	ends   []float64 // gauge at the ends, index 0 at the cut; NaN where not known
}

// cutAt returns the first interval that is judged: a tenth of the time, at least
// one interval, comes before it, unless there is but one.
func cutAt(in *Input) int {
	if len(in.Intervals) == 0 || in.one() {
		return 0
	}
	from := in.From + int64(warmUp*float64(in.Intervals[len(in.Intervals)-1].To-in.From))
	cut := 1
	for cut < len(in.Intervals) && in.start(cut) < from {
		cut++
	}
	return cut
}

// measure computes the evidence.
func measure(in Input) (*window, Evidence) {
	var ev Evidence
	w := &window{in: in, cut: cutAt(&in), ev: &ev}
	judged := in.Intervals[min(w.cut, len(in.Intervals)):]
	ev.Intervals = len(judged)
	w.d = []float64{0}
	for i := range judged {
		s := in.seconds(w.cut + i)
		w.e = append(w.e, s)
		w.t += s
		ev.Ended += judged[i].Ended
		ev.Dropped += judged[i].Dropped
		w.d = append(w.d, ev.Dropped)
	}
	ev.WindowS = w.t
	if len(judged) == 0 || w.t <= 0 || ev.Ended <= 0 {
		return w, ev
	}
	w.gauges(judged)
	w.clock(judged)
	w.little(judged)
	w.levels(judged)
	ev.S2 = dispersion(judged, w.held, w.in.uneven)
	u := math.Sqrt(ev.Ended)
	k := len(ev.Level) - 1
	ev.First, ev.Second = halves(ev.InFlight)
	ev.G = (ev.Second - ev.First) / (u * math.Sqrt(ev.S2/3))
	ev.E = (ev.Level[k] - ev.Level[0]) / (u * math.Sqrt(ev.S2))
	ev.GBar = growG + growGMore/math.Sqrt(ev.Ended)
	ev.V = w.wandering() / u
	ev.R = w.reach() / u
	ev.VMost = min(calmV, calmGrowth*ev.Offered*w.t/(math.Sqrt(12)*u))
	ev.RMost = calmR
	if w.t/float64(len(judged)) < shortE {
		ev.RMost = calmRShort
	}
	w.roots(judged)
	w.capacity(judged)
	return w, ev
}

// wandering is the standard deviation of L_i + dropped so far.
func (w *window) wandering() float64 {
	x := make([]float64, len(w.ev.InFlight))
	for i, l := range w.ev.InFlight {
		x[i] = l + (w.d[i]+w.d[i+1])/2
	}
	return math.Sqrt(variance(x))
}

// reach is the range of N_k + dropped so far.
func (w *window) reach() float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, n := range w.ev.Level {
		lo, hi = min(lo, n+w.d[i]), max(hi, n+w.d[i])
	}
	return hi - lo
}

// roots computes z on the path drawn straight between the levels. The window's
// own dispersion is undone, as this rule has φ = 1.
func (w *window) roots(judged []Interval) {
	var win stability.Window
	total := subSteps * len(judged)
	for i := range judged {
		n0, n1 := w.ev.Level[i], w.ev.Level[i+1]
		var done int64
		for j := range subSteps {
			n := n0 + (n1-n0)*(float64(j)+0.5)/subSteps
			span := &win.Spans[(i*subSteps+j)*stability.Spans/total]
			upto := int64(math.Round(judged[i].Ended * float64(j+1) / subSteps))
			level := stability.LevelOf(int(math.Round(n)))
			if upto > done {
				level = max(level, 1) // something was there to end
			}
			ns := int64(w.e[i] * 1e9 / subSteps)
			span.DurationNS += ns
			span.Departures += upto - done
			span.Occupancy.Add(level, ns, upto-done)
			done = upto
		}
	}
	e := stability.Evaluate(&win, stability.Rate{PerS: w.ev.Offered, Known: true})
	undo := math.Sqrt(e.Dispersion)
	w.ev.ZAll, w.ev.ZPlateau = e.ZAll*undo, e.ZPlateau*undo
	w.ev.Z = allWeight*w.ev.ZAll + (1-allWeight)*w.ev.ZPlateau
}

// capacity finds the limit that was reached and the capacity that it allows.
func (w *window) capacity(judged []Interval) {
	ev := w.ev
	late, full := 0, 0
	limit := 0.0
	for i := len(judged) / 2; i < len(judged); i++ {
		if n := judged[i].InFlight; !math.IsNaN(n) && !math.IsNaN(judged[i].Limit) {
			late++
			limit = max(limit, judged[i].Limit)
			if n >= atLimit*judged[i].Limit {
				full++
			}
		}
	}
	ev.UnloadedS = w.in.UnloadedS
	if ev.UnloadedS <= 0 {
		ev.UnloadedS = w.shortest()
	}
	if late == 0 || 2*full < late || ev.Dropped == 0 {
		return
	}
	ev.Limit = limit
	if ev.UnloadedS > 0 && ev.UnloadedS < ev.MeanS {
		ev.CapacityUp = ev.EndedPerS / (1 - ev.UnloadedS/ev.MeanS)
	}
}

// shortest is the smallest mean duration of an interval, those before the cut
// included; 0 when none is known.
func (w *window) shortest() float64 {
	least := 0.0
	for i := range w.in.Intervals {
		v := &w.in.Intervals[i]
		if m := v.ServiceS / v.Ended; v.Ended > 0 && m > 0 && (least == 0 || m < least) {
			least = m
		}
	}
	return least
}

package counts

import (
	"math"
	"strconv"
)

func average(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// variance is that of a sample; 0 for less than two values.
func variance(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	m := average(x)
	var s float64
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return s / float64(len(x)-1)
}

// neighbours is the covariance of each value with the next.
func neighbours(x []float64) float64 {
	m := average(x)
	var s float64
	for i := 1; i < len(x); i++ {
		s += (x[i] - m) * (x[i-1] - m)
	}
	return s / float64(len(x)-1)
}

// halves returns the means of x over the intervals of both halves. Of an odd
// number the one in the middle is left out.
func halves(x []float64) (first, second float64) {
	if len(x) < 2 {
		return average(x), average(x)
	}
	k := len(x) / 2
	return average(x[:k]), average(x[len(x)-k:])
}

// dispersion is s2: the variance of what ended over its mean, or the squared cv
// of durations, whichever is more, and at least 1. Where exports are uneven their
// beat is in the counts, and no more than the bound of the durations is believed.
func dispersion(judged []Interval, seconds []float64, uneven bool) float64 {
	x := make([]float64, len(judged))
	var total, t float64
	for i := range judged {
		x[i] = judged[i].Ended
		total += x[i]
		t += seconds[i]
	}
	for i := range x { // intervals of other lengths stand for one of the usual
		if seconds[i] > 0 {
			x[i] *= t / float64(len(x)) / seconds[i]
		}
	}
	s2 := max(1, variance(x)/(total/float64(len(x))))
	if uneven {
		s2 = min(s2, blockMost)
	}
	for third := range 3 {
		var b *Buckets
		for i := third * len(judged) / 3; i < (third+1)*len(judged)/3; i++ {
			b = sum(b, judged[i].Durations)
		}
		if b != nil {
			s2 = max(s2, min(blockMost, b.cv2()))
		}
	}
	return s2
}

// mostCommon returns the value that occurs most often; NaN counts for nothing.
func mostCommon(x []float64) float64 {
	n := map[float64]int{}
	best, most := math.NaN(), 0
	for _, v := range x {
		if math.IsNaN(v) {
			continue
		}
		n[v]++
		if n[v] > most || n[v] == most && v > best {
			best, most = v, n[v]
		}
	}
	return best
}

// text writes a number with four digits at most.
func text(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

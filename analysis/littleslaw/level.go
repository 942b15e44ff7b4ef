package littleslaw

import (
	"fmt"
	"math"
)

// Levels is a level of requests in flight that somebody exported now and then: a
// gauge, an up-down counter, or the difference of a counter of starts and one of
// ends. The records are read at the same instants, so that sampling adds no noise:
// an exported mean of a small queue alone is 5 to 40 % off.
type Levels struct {
	Counted float64 // mean of the exported level over the instants
	Records float64 // mean of what the records had in flight at them
	N       int     // instants
	EventsS float64 // starts and ends per second, by the records
	SlackS  float64 // how far apart the clocks of the two may be
	// Spread is the standard deviation of the records between instants, where the
	// parts of the level (replicas of a server) are read at different ones; else 0.
	Spread float64
	// Server says that the level is a server's. It leaves out what waits in the
	// network and in the client, so only more than the records have is a
	// contradiction.
	Server bool
}

// Slack of the stamps: a process reads its instruments within milliseconds of the
// stamp of an export; clocks of two hosts, and the way between them, differ by more.
const (
	OwnSlackS    = 0.005
	ServerSlackS = 0.1
)

// LeastInstants is how many instants a comparison takes.
const LeastInstants = 3

// Tolerances of levels.
const (
	levelLeast  = 0.02 // of the level
	levelSigmas = 4.0
)

// LevelResult is the outcome of a comparison of levels.
type LevelResult struct {
	Residual  float64 // (Counted − Records) over the larger; positive: more were counted
	Tolerance float64 // what it may be, as a share of the larger
	OK        bool
	Note      string
}

// Check compares the means. Within the slack δ of a stamp the level moves by the
// difference of the starts and ends that fall into it, of variance EventsS·δ, or
// less where they are evener than Poisson; over N instants the mean moves by
//
//	4·√(EventsS·δ/N), and never less than 2 % of the level is allowed
//
// Where parts of the level are read at different instants, Spread² is added to
// EventsS·δ.
//
// It reports false where there are fewer than LeastInstants.
func (l Levels) Check() (LevelResult, bool) {
	if l.N < LeastInstants {
		return LevelResult{}, false
	}
	larger := max(l.Counted, l.Records)
	if larger <= 0 {
		return LevelResult{Tolerance: levelLeast, OK: true, Note: "nothing was in flight at any of them"}, true
	}
	noise := levelSigmas * math.Sqrt((max(l.EventsS, 0)*l.SlackS+l.Spread*l.Spread)/float64(l.N))
	r := LevelResult{Residual: (l.Counted - l.Records) / larger, Tolerance: max(levelLeast, noise/larger)}
	r.OK = r.Residual <= r.Tolerance && (l.Server || r.Residual >= -r.Tolerance)
	switch {
	case r.OK && l.Server && r.Residual < -r.Tolerance:
		r.Note = fmt.Sprintf("%.4g of the %.4g in flight were at the server, the others on the way or in the client", l.Counted, l.Records)
	case r.OK:
		r.Note = fmt.Sprintf("%.4g in flight by the exported level, %.4g by the records at the same instants", l.Counted, l.Records)
	case l.Server:
		r.Note = fmt.Sprintf("the server had %.4g requests and the records account for %.4g", l.Counted, l.Records)
	case r.Residual > 0:
		r.Note = fmt.Sprintf("%.4g were in flight by the exported level and the records account for %.4g at the same instants: records are missing or times are too short", l.Counted, l.Records)
	default:
		r.Note = fmt.Sprintf("the records account for %.4g in flight and %.4g were exported: records are counted twice, or times start too early", l.Records, l.Counted)
	}
	return r, true
}

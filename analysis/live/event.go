package live

// EventKind says what an event is about.
type EventKind string

// Kinds of events. A suspicion is never an alert: it is what the completions
// alone say before the number in flight is known.
const (
	Raise   EventKind = "raise"
	Clear   EventKind = "clear"
	Suspect EventKind = "suspect"
)

// Event is a change of the watch's mind, with the numbers that carry it.
type Event struct {
	Kind EventKind
	At   int64 // event time of the look, a whole second
	Seen int64 // event time up to which rows had to be known for it; At or later

	WindowS  float64 // length of the window that spoke loudest; it ends at At
	Z        float64 // signed root of the likelihood ratio; negative: falls behind
	Capacity float64 // Ĉ, per second; of a suspicion what ended, per second
	Offered  float64 // λ, per second
	InFlight int64   // N(At)
	Lost     int64   // clients that gave up in the window, if they are over 5 % lately; else 0
	Growth   int64   // N(At) − N(At − WindowS) + Lost; of a suspicion, offered less ended
}

// State is what the watch thinks now.
type State string

// States of a watch.
const (
	Calm      State = "calm"
	Suspected State = "suspected"
	Unstable  State = "unstable"
)

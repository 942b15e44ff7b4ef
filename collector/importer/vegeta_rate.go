package importer

import (
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// How many results are looked at to find the rate, and over what time.
const (
	vegetaHeld    = 100_000
	vegetaFor     = int64(6e9)
	vegetaAttacks = 1000
)

// vegeta turns results into rows, attack by attack.
type vegeta struct {
	sink    *Sink
	name    string // attack of the last result, to share its text
	attacks map[string]*attack
	order   []*attack
}

// attack is one run of a schedule. Every result has its place in the schedule
// (seq) and the time at which it was sent, so with the rate it is known when it
// was due (grade B). The rate is not in the results: it is that of the first
// sends, see steady.
type attack struct {
	sink    *Sink
	group   sample.Group
	begun   bool // number 0 has been seen
	decided bool
	held    []vegetaResult
	rate    steady
}

func newVegeta(sink *Sink) *vegeta { return &vegeta{sink: sink, attacks: map[string]*attack{}} }

func (v *vegeta) add(r *vegetaResult) error {
	a := v.attacks[r.attack]
	if a == nil || r.seq == 0 && a.begun {
		if len(v.order) >= vegetaAttacks {
			return v.sink.Bad(fmt.Errorf("more than %d attacks in one file", vegetaAttacks))
		}
		scenario := r.attack
		if a != nil {
			if err := a.decide(); err != nil {
				return err
			}
			scenario = fmt.Sprintf("%s (%d)", r.attack, len(v.order)+1)
		}
		a = &attack{sink: v.sink, group: sample.Group{Generator: "vegeta", Scenario: scenario, Model: sample.Open}}
		v.attacks[r.attack], v.order = a, append(v.order, a)
	}
	a.begun = a.begun || r.seq == 0
	return a.add(r)
}

// close ends the results.
func (v *vegeta) close() error {
	for _, a := range v.order {
		if err := a.decide(); err != nil {
			return err
		}
	}
	return nil
}

func (a *attack) add(r *vegetaResult) error {
	if a.decided {
		return a.row(r)
	}
	kept := *r
	kept.failure = append([]byte(nil), r.failure...)
	a.held = append(a.held, kept)
	if len(a.held) >= vegetaHeld || len(a.held) >= steadyLeast && r.sent-a.held[0].sent > vegetaFor {
		return a.decide()
	}
	return nil
}

// decide looks for the rate and hands on what was held.
func (a *attack) decide() error {
	if a.decided {
		return nil
	}
	a.decided = true
	var sends []send
	for i := range a.held {
		sends = append(sends, send{a.held[i].seq, a.held[i].sent})
	}
	switch rate := a.rate.find(sends); {
	case a.sink.Scheduled:
		a.rate = steady{}
	case rate > 0:
		a.group.Rate, a.group.Process = rate, "constant"
		a.sink.Warn("the rate of %.6g/s is that of the first sends: requests were due by it and their number (seq)", rate)
	case len(sends) < steadyLeast:
		a.sink.Warn("%d results are too few to tell the rate: times are counted from the send", len(sends))
	default:
		a.sink.Warn("the sends follow no constant rate: times are counted from the send")
		a.sink.Advise(adviseSchedule)
	}
	for i := range a.held {
		if err := a.row(&a.held[i]); err != nil {
			return err
		}
	}
	a.held = nil
	return nil
}

func (a *attack) row(r *vegetaResult) error {
	if a.rate.left(send{r.seq, r.sent}) {
		a.group.Rate, a.group.Process = 0, ""
		a.sink.Warn("from request %d on the sends leave the rate of the first ones: times are counted from the send there", r.seq)
		a.sink.Advise(adviseSchedule)
	}
	return a.sink.Row(&a.group, &sample.Row{
		Sent: r.sent, Done: r.sent + r.latency, Index: r.seq, Outcome: r.outcome(), Status: statusOf(r.code),
	})
}

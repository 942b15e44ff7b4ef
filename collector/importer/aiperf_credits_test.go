package importer

import (
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestAiperfCredits: aiperf 0.13.0 with and without --concurrency. What a cap
// held back was due at a time that no file has.
func TestAiperfCredits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, grade string
		rows        int
		model       sample.Model
	}{
		{"aiperf-poisson.jsonl.gz", "A", 117, sample.UnknownModel},
		{"aiperf-constant.jsonl.gz", "A", 60, sample.UnknownModel},
		{"aiperf-closed.jsonl.gz", "S", 60, sample.Closed},
		{"aiperf-capped.jsonl.gz", "S", 60, sample.UnknownModel},
		{"aiperf-poisson-capped.jsonl.gz", "S", 96, sample.UnknownModel},
	} {
		k, r := importUndated(t, c.file)
		if len(k.rows) != c.rows || r.Grade() != c.grade || r.warned("held credits back") != (c.grade == "S") || r.Bad != 0 {
			t.Errorf("%s: %d rows of grade %s: %q", c.file, len(k.rows), r.Grade(), r.Warnings)
		}
		if k.groups[0].Model != c.model {
			t.Errorf("%s: model %v, want %v", c.file, k.groups[0].Model, c.model)
		}
	}
}

// TestCreditsLook tells credits that were issued when they were due from those
// that waited for a slot, over many loads.
func TestCreditsLook(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		rate, service := 5+45*rng.Float64(), 0.05+0.5*rng.Float64()
		poisson := i%2 == 0
		mean := rate * service
		slots := max(1, int(mean*(0.3+0.5*rng.Float64()))) // too few
		for _, capped := range []bool{false, true} {
			if !capped && poisson && mean < 0.2 {
				continue
			}
			rows := creditsOf(rng, rate, service, poisson, capped, slots)
			c := credits{rows: rows, sessions: make([]int64, len(rows))}
			if _, held := c.look(true); held != capped {
				t.Errorf("%.1f/s of %.3f s, Poisson %v, %d slots %v: held %v", rate, service, poisson, slots, capped, held)
			}
		}
	}
}

// creditsOf are 600 ticks of aiperf: one that finds no slot is skipped.
func creditsOf(rng *rand.Rand, rate, service float64, poisson, capped bool, slots int) []sample.Row {
	const origin = int64(1796000000e9)
	var rows []sample.Row
	at := 0.0
	for range 600 {
		gap := 1 / rate
		if poisson {
			gap = rng.ExpFloat64() / rate
		}
		at += gap
		issued := origin + int64(at*1e9)
		out := 0
		for i := range rows {
			if rows[i].Done > issued {
				out++
			}
		}
		if capped && out >= slots {
			continue
		}
		done := issued + int64(service*(0.7+0.6*rng.Float64())*1e9)
		rows = append(rows, sample.Row{Intended: issued, Sent: issued + 1e6, Done: max(done, issued+1e6)})
	}
	return rows
}

// TestCreditsOfConversations: a conversation holds its slot until its last answer,
// and it is then that the next one may begin.
func TestCreditsOfConversations(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, slots := range []int{3, 100} {
		var c credits
		free := make([]int64, slots) // when each slot is free again
		at := int64(1796000000e9)
		for session := range int64(200) {
			at += int64(rng.ExpFloat64() * 100e6) // 10/s, of half a second each
			slot := 0
			for i := range free {
				if free[i] < free[slot] {
					slot = i
				}
			}
			at = max(at, free[slot])
			first := at + 100e6
			c.rows = append(c.rows, sample.Row{Intended: at, Sent: at + 1e6, Done: first}, sample.Row{Sent: first + 300e6, Done: first + 400e6})
			c.sessions = append(c.sessions, session, session)
			free[slot] = first + 400e6
		}
		if _, held := c.look(true); held != (slots == 3) {
			t.Errorf("%d slots: held %v", slots, held)
		}
	}
}

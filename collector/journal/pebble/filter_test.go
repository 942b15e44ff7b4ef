package pebble

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/collector/journal"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	fresh := func() (id journal.ID) {
		binary.LittleEndian.PutUint64(id[:8], rng.Uint64())
		binary.LittleEndian.PutUint64(id[8:], rng.Uint64())
		return id
	}
	var f filter
	if f.mayHold(fresh()) {
		t.Error("an empty filter holds something")
	}
	var kept []journal.ID
	for range 3*filterIDs + 5 {
		id := fresh()
		f.add(id)
		kept = append(kept, id)
	}
	for _, id := range kept {
		if !f.mayHold(id) {
			t.Fatalf("%x is forgotten", id)
		}
	}
	alarms := 0
	for range 100_000 {
		if f.mayHold(fresh()) {
			alarms++
		}
	}
	if alarms > 1000 { // three full parts: 0.7 %
		t.Errorf("%d false alarms in 100,000", alarms)
	}
}

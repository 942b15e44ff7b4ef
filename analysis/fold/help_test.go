package fold_test

import (
	"math/rand/v2"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// steps is a declaration of a few short steps, some with pauses.
func steps(rng *rand.Rand) *wire.Declaration {
	d := &wire.Declaration{}
	for range 1 + rng.IntN(4) {
		d.Steps = append(d.Steps, wire.DeclareStep{
			RatePerS: 100, DurationS: 0.2 + rng.Float64(), PauseS: float64(rng.IntN(2)) * 0.1,
		})
	}
	return d
}

package fold

import "github.com/plimsoll/plimsoll/analysis/sample"

// Floor is the number in flight at which a step that follows another counts as
// drained: at most 1 + 2·λ·W₀ (DESIGN section 6), W₀ the unloaded service time.
func (st *State) Floor(s *Step) float64 {
	return 1 + 2*s.Offered()*st.Unloaded()
}

// Unloaded is the service time of the system when it is least loaded, in seconds:
// the smallest median over the steps. Where the first twentieth of a step took
// less than half of that, every step was too much for the service, and only the
// beginning was not. It is 0 when there are no rows.
func (st *State) Unloaded() float64 { return st.unloaded }

// enoughEarly is how many requests of a first twentieth make a median.
const enoughEarly = 50

func (st *State) findUnloaded() float64 {
	best := 0.0
	for _, s := range st.Steps {
		if n := s.Service.Count(); n > 0 && s.Outcomes[sample.OK] > 0 {
			if v := float64(s.Service.ValueAtRank((n+1)/2)) / 1e9; best == 0 || v < best {
				best = v
			}
		}
		if s.Rig.Batches == nil {
			continue
		}
		if v, n := s.Rig.Batches.Early(); n >= enoughEarly && v < best/2 {
			best = v
		}
	}
	return best
}

// Drained returns when the number in flight first reached the floor after the
// end of the step, and whether it did.
func (s *Step) Drained(floor float64) (at int64, ok bool) {
	for _, m := range s.Minima {
		if float64(m.Level) <= floor {
			return m.At, true
		}
	}
	return 0, false
}

// backlogs looks for steps that began with the backlog of the step before and
// sets the time from which they can be judged on their own. It reports whether
// another sweep is needed.
func (f *folder) backlogs() bool {
	again := false
	for i, s := range f.state.Steps {
		if i == 0 || s.CarriedIn == 0 {
			continue
		}
		floor := f.state.Floor(s)
		if float64(s.CarriedIn) <= 2*floor {
			continue
		}
		if _, done := f.judgedFrom[s.Index]; done {
			continue
		}
		if at, ok := f.state.Steps[i-1].Drained(floor); ok && at > s.JudgedFrom && at < s.To {
			f.judgedFrom[s.Index] = at
			again = true
		}
	}
	return again
}

package fold

import "github.com/plimsoll/plimsoll/analysis/response"

// Size is about the memory that a state takes, in bytes.
func (st *State) Size() int {
	n := 4096 + st.Telemetry.size()
	for _, c := range st.Paired {
		n += 128 + 24*len(c.Pairs)
	}
	if st.Series != nil {
		n += st.Series.size()
	}
	for _, s := range st.Steps {
		n += s.size()
	}
	if len(st.Steps) == 1 {
		return n // the totals share what the step holds
	}
	return n + st.Totals.size()
}

// size is about the memory of a step in bytes.
func (s *Step) size() int {
	n := 8192 + 16*len(s.Minima)
	if s.Response != nil {
		n += s.Response.Size()
	}
	for _, h := range [...]*response.Histogram{s.Service, s.SendDelay, s.FirstByte, s.ShedResponse, s.OKFlow} {
		if h != nil {
			n += h.Size()
		}
	}
	for i := range s.Window.Spans {
		n += s.Window.Spans[i].Occupancy.Size()
	}
	if s.Tokens != nil && s.Tokens.Inter != nil {
		n += s.Tokens.Inter.Size()
	}
	if s.Rig.Batches != nil {
		n += s.Rig.Batches.Size()
	}
	for _, src := range s.SourceSteps {
		n += 128 + src.Response.Size() + src.SendDelay.Size()
	}
	return n
}

package plugin

import (
	"net/url"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// verdict is one row with what the run proves.
func (d *Datasource) verdict(v *wire.Verdict) *data.Frame {
	k := &v.Knee
	lo, hi := bounds(k.Capacity)
	headline := field("headline", "Headline", []string{proof(v)})
	headline.Config.Links = []data.DataLink{d.runLink(v.Run.ID, v.Run.StartedAt, v.Run.EndedAt)}
	capacity := unit(field("capacity", "Capacity", []*float64{value(k.Capacity)}), unitRate)
	capacity.Config.NoValue = "not found"
	past, pastColour := beyond(v)
	doubt, doubtColour := trust(v)
	f := table(
		"verdict",
		mapped(field("outcome", "Outcome", []*float64{outcomeCode(v.Outcome)}), outcomes()),
		headline,
		capacity,
		unit(field("capacity_low", "Capacity, at least", []*float64{lo}), unitRate),
		unit(field("capacity_high", "Capacity, at most", []*float64{hi}), unitRate),
		field("capacity_text", "Capacity, in words", []string{tight(capacityText(v))}),
		unit(field("recommended", "Recommended rate", []*float64{k.Recommended}), unitRate),
		mapped(field("knee", "Knee", []string{plain(k.State)}), words()),
		said("beyond_knee", "Beyond the knee", past, pastColour),
		mapped(field("after_push", "After the push", []string{plain(v.Metastability.State)}), words()),
		said("after_push_text", "After the push, in words", afterPush(v), afterColour(v)),
		said("generator_valid", "Generator and data", tight(doubt), doubtColour),
		field("loop", "Loop", []string{v.Audit.Loop}),
		field("arrivals", "Arrivals", []string{v.Audit.ArrivalProcess}),
		field("goodput_text", "Goodput at the highest rate", []string{goodputText(worstStep(v), v)}),
		field("grade", "Grade", []*string{v.Run.Grade}),
		unit(field("deadline", "Deadline", []*float64{v.Run.DeadlineS}), unitSeconds),
		mapped(field("state", "State", []string{v.Run.State}), words()),
		field("run", "Run", []string{v.Run.ID}),
		field("name", "Name", []string{runName(v.Run.ID, v.Run.Name)}),
		field("generator", "Generator", []string{v.Run.Generator}),
		field("started", "Started", []*time.Time{v.Run.StartedAt}),
		field("ended", "Ended", []*time.Time{v.Run.EndedAt}),
		field("revision", "Revision", []float64{float64(v.Revision)}),
	)
	f.Fields = append(f.Fields, inTime(v)...)
	return shown(f, "table")
}

func value(e *wire.Estimate) *float64 {
	if e == nil {
		return nil
	}
	return e.Value
}

func bounds(e *wire.Estimate) (lo, hi *float64) {
	if e == nil {
		return nil, nil
	}
	return e.Lo, e.Hi
}

// plain writes a state without its underscores.
func plain(state string) string { return strings.ReplaceAll(state, "_", " ") }

func shape(v *wire.Verdict) string {
	if v.Knee.Shape == nil {
		return "not seen"
	}
	return *v.Knee.Shape
}

// capacityText says the capacity, or what is known instead of it.
func capacityText(v *wire.Verdict) string {
	switch {
	case v.Knee.Capacity != nil && (v.Knee.Capacity.Value != nil || v.Knee.Capacity.Lo != nil):
		return interval(v.Knee.Capacity)
	case v.SaturationThroughput != nil && v.SaturationThroughput.Value != nil:
		return "at least " + perSecond(*v.SaturationThroughput.Value) + ": a closed loop cannot say more"
	case v.Knee.ServedInFull != nil:
		return "more than " + perSecond(*v.Knee.ServedInFull)
	case v.Knee.State == "not_reached":
		return "not found: nothing was too much"
	}
	return "not found: the rates of this run do not show it"
}

// afterPush says what became of the service after the load came back down.
func afterPush(v *wire.Verdict) string {
	m := &v.Metastability
	switch {
	case m.State == "recovered" && m.RecoveredAfterS != nil:
		return "recovered after " + seconds(*m.RecoveredAfterS)
	case m.State == "draining" && m.EtaS != nil:
		return "draining, about " + seconds(*m.EtaS) + " to go"
	case m.State == "sustained":
		return notRecovered(v) + ": its own retries keep it down"
	case m.State == "degraded":
		return notRecovered(v)
	}
	return plain(m.State)
}

func notRecovered(v *wire.Verdict) string {
	text := "NOT recovered"
	if back := returned(v.Steps); back != nil && back.Offered != nil {
		text += " at " + perSecond(*back.Offered)
	}
	if w := v.Metastability.WatchedS; w != nil {
		text += " in " + seconds(*w)
	}
	if back := returned(v.Steps); back != nil && back.Completed != nil {
		text += ", " + perSecond(*back.Completed) + " completed"
	}
	return text
}

// worstStep is the step of the highest rate that was judged.
func worstStep(v *wire.Verdict) *wire.Step {
	var out *wire.Step
	for i := range v.Steps {
		s := &v.Steps[i]
		if s.Offered != nil && s.Goodput != nil && (out == nil || *s.Offered > *out.Offered) {
			out = s
		}
	}
	return out
}

func goodputText(s *wire.Step, v *wire.Verdict) string {
	if s == nil {
		if v.Run.DeadlineS == nil {
			return "no deadline: goodput is not defined"
		}
		return "–"
	}
	text := perSecond(*s.Goodput)
	if s.Completed != nil {
		text += " of " + perSecond(*s.Completed) + " completed"
	}
	return text + " at " + perSecond(*s.Offered) + " offered"
}

// runLink leads to the dashboard of a run, at its time.
func (d *Datasource) runLink(id string, from, to *time.Time) data.DataLink {
	q := url.Values{"var-run": {id}, "var-ds": {d.uid}}
	if from != nil && to != nil {
		margin := max(to.Sub(*from)/20, 2*time.Second)
		q.Set("from", millis(from.Add(-margin)))
		q.Set("to", millis(to.Add(margin)))
	}
	return data.DataLink{Title: "Open the run", URL: "/d/" + url.PathEscape(d.settings.DashboardUID) + "?" + q.Encode()}
}

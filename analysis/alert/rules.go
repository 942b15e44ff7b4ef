package alert

import (
	"fmt"
	"strconv"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// Seen returns the alert that a look at a run calls for: whether its backlog
// grows. Everything else takes a verdict.
func Seen(run Run, now *fold.Now) []Alert {
	if now.State != live.Unstable {
		return nil
	}
	for i := len(now.Events) - 1; i >= 0; i-- {
		e := now.Events[i]
		if e.Kind != live.Raise {
			continue
		}
		a := run.alert(Unstable, Critical, "", "the backlog grows without end", verdict.Alarm(e))
		a.Step = stepAt(now.Run.Declaration, now.Start, e.At)
		a.StartsAt = time.Unix(0, e.At).UTC()
		return []Alert{a}
	}
	return nil
}

// stepAt names the declared step at an instant.
func stepAt(d *wire.Declaration, start, at int64) string {
	if d == nil {
		return ""
	}
	end := start
	for i, s := range d.Steps {
		end += int64(s.DurationS * 1e9)
		if at < end {
			return stepName(i, s.Name)
		}
		end += int64(s.PauseS * 1e9)
	}
	return ""
}

func stepName(i int, name string) string {
	if name != "" {
		return name
	}
	return strconv.Itoa(i)
}

// Judged returns the alerts that a verdict calls for. While a run goes on, its
// backlog is watched by Seen; that a step was unstable counts once it has ended.
func Judged(run Run, v *wire.Verdict) []Alert {
	var out []Alert
	if v.Run.State == wire.Finished && v.Outcome == wire.OutcomeFail {
		if f := finding(v, "unstable_step", wire.Fail); f != nil {
			a := run.alert(Unstable, Critical, "", "the backlog grew without end", f.Message)
			a.Step = stepOf(v, f)
			out = append(out, a)
		}
	}
	if !v.Audit.Valid {
		why := v.Headline
		f := finding(v, "", wire.Invalid)
		if f != nil {
			why = f.Message
		}
		a := run.alert(GeneratorInvalid, Warning, "", "the generator cannot be trusted", why)
		a.Step = stepOf(v, f)
		out = append(out, a)
	}
	told := map[string]bool{}
	for _, h := range v.Objectives {
		if h.Kind == wire.GoodputKind && h.State == wire.Missed && !told[h.Scenario] {
			told[h.Scenario] = true
			a := run.alert(GoodputLow, Critical, h.Scenario, fmt.Sprintf("objective %s is missed", h.Title), h.Message)
			a.Step = h.Step
			out = append(out, a)
		}
	}
	if s := v.Metastability.State; s == "sustained" || s == "degraded" {
		out = append(out, run.alert(NotRecovered, Critical, "", "the service did not recover", v.Headline))
	}
	return out
}

// alert fills in what all alerts have in common.
func (r Run) alert(name, severity, scenario, what, why string) Alert {
	if scenario == "" {
		scenario = r.Scenario
	}
	return Alert{
		Labels: Labels{Name: name, RunName: r.Name, Scenario: scenario, Severity: severity},
		RunID:  r.ID, Summary: r.Name + ": " + what, Description: why,
	}
}

// finding returns the first finding with the code and severity; an empty code is
// any.
func finding(v *wire.Verdict, code, severity string) *wire.Finding {
	for i := range v.Findings {
		if f := &v.Findings[i]; (code == "" || f.Code == code) && f.Severity == severity {
			return f
		}
	}
	return nil
}

func stepOf(v *wire.Verdict, f *wire.Finding) string {
	if f == nil || f.Step == nil {
		return ""
	}
	for i := range v.Steps {
		if v.Steps[i].Index == *f.Step {
			return stepName(*f.Step, v.Steps[i].Name)
		}
	}
	return ""
}

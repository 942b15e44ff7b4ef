package plugin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// overloaded makes the verdict that of a sweep past capacity and back: 450/s served
// in full, collapse from 500/s on, two steps whose generator dropped, no recovery.
func overloaded(v *wire.Verdict) {
	step := v.Steps[0]
	v.Steps = nil
	for i, s := range []struct {
		offered, completed, goodput float64
		reason                      string
	}{
		{450, 449, 449, ""}, {500, 462, 351, ""}, {550, 441, 88, "no number: 4.1 % dropped"}, {600, 337, 0, "no number: 22 % dropped"}, {300, 0.8, 0, ""},
	} {
		one := step
		one.Index, one.Offered, one.Completed, one.Goodput = i, new(s.offered), new(s.completed), new(s.goodput)
		one.ResponseTime.Valid, one.ResponseTime.Reason = s.reason == "", s.reason
		v.Steps = append(v.Steps, one)
	}
	v.Headline = "Pushed to 600/s and back to 300/s, the service did not recover in 1500 s: retries keep it overloaded."
	v.Findings = append(v.Findings, wire.Finding{Code: "knee", Severity: wire.Info, Message: "The knee is at 500/s."})
	v.Knee = wire.Knee{State: "found", Offered: new(500.0), Shape: new("collapse"), Capacity: &wire.Estimate{Value: new(462.0), Lo: new(459.7), Hi: new(464.3)}}
	v.Metastability = wire.Metastability{State: "sustained", WatchedS: new(1500.0)}
}

func TestHeadSaysItAll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.verdict(t, overloaded)
	f := s.one(t, `{"queryType":"verdict"}`).Frames[0]
	for name, want := range map[string]string{
		"headline":        "Pushed to 600/s and back to 300/s, the service did not recover in 1500 s: retries keep it overloaded. The knee is at 500/s.",
		"capacity_text":   "462/s (460 to 464)",
		"beyond_knee":     "collapse, to 337/s at 600/s",
		"in_time_1":       "351 of 462/s within 2 s",
		"in_time_2":       "88 of 441/s within 2 s",
		"in_time_3":       "0 of 337/s within 2 s",
		"after_push_text": "NOT recovered at 300/s in 1500 s, 0.8/s completed: its own retries keep it down",
		"generator_valid": "2 of 5 steps have no percentiles: the generator dropped 4.1 % at 550/s, 22 % at 600/s",
	} {
		if got := strings.ReplaceAll(text(t, f, name), "\u00a0", " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	names, _ := s.one(t, `{"queryType":"steps"}`).Frames[0].FieldByName("step")
	if first, last := names.At(0), names.At(4); first != "450/s" || last != "300/s, back" {
		t.Errorf("steps %q to %q", first, last)
	}
	for _, name := range []string{"in_time_0", "in_time_4"} {
		if _, i := f.FieldByName(name); i >= 0 {
			t.Errorf("%s: steps below the knee and after the push are not of the head", name)
		}
	}
}

// What the run says of itself where there is less to say.
func TestHeadOfOtherRuns(t *testing.T) {
	t.Parallel()
	check := func(name, want string, change func(v *wire.Verdict)) {
		t.Helper()
		s := newServer(t)
		s.verdict(t, change)
		if got := strings.ReplaceAll(text(t, s.one(t, `{"queryType":"verdict"}`).Frames[0], name), "\u00a0", " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	check("generator_valid", "valid", func(*wire.Verdict) {})
	check("generator_valid", "invalid: clocks disagree", func(v *wire.Verdict) {
		v.Audit.Valid, v.Audit.Findings = false, []wire.Finding{{Severity: wire.Warn, Message: "late"}, {Severity: wire.Invalid, Message: "clocks disagree"}}
	})
	check("generator_valid", "1 of 1 steps has no percentiles: closed loop at 120/s", func(v *wire.Verdict) {
		v.Steps[0].ResponseTime = wire.Response{Reason: "closed loop"}
	})
	check("beyond_knee", "not seen", func(*wire.Verdict) {})
	check("beyond_knee", "completions stay level, 337/s at 600/s", func(v *wire.Verdict) { overloaded(v); v.Knee.Shape = new("saturation") })
	check("after_push_text", "recovered after 11 s", func(v *wire.Verdict) {
		v.Metastability = wire.Metastability{State: "recovered", RecoveredAfterS: new(11.0)}
	})
	check("in_time", "no deadline is set: goodput is not defined", func(v *wire.Verdict) { v.Run.DeadlineS, v.Steps[0].Goodput = nil, nil })
}

// Where the percentiles of the whole are refused, the longest stretch of steps that
// has them is shown, and said to be no more.
func TestSpectrumOfTheStepsThatHaveOne(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.verdict(t, overloaded)
	s.instead["spectrum"] = func(r *http.Request) any {
		if r.URL.Query().Get("steps") == "" {
			return wire.Spectrum{}
		}
		return wire.Spectrum{Response: []wire.SpectrumPoint{{Quantile: 0.5, Inverse: new(2.0), Seconds: new(0.06)}}}
	}
	got := s.one(t, `{"queryType":"spectrum"}`)
	if last := s.asked[len(s.asked)-1]; !strings.Contains(last, "steps=0%2C1") || got.Frames[0].Rows() != 1 {
		t.Errorf("asked %s, shows %d points", last, got.Frames[0].Rows())
	}
	if !strings.Contains(notices(got), "Only the steps 450/s to 500/s") {
		t.Errorf("notices %q", notices(got))
	}
	s.asked = nil
	s.one(t, `{"queryType":"spectrum","step":"2"}`)
	if asked := strings.Join(s.asked, " "); !strings.Contains(asked, "steps=2") {
		t.Errorf("asked %s", asked)
	}
}

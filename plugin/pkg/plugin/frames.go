package plugin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// frames answers a query.
func (d *Datasource) frames(ctx context.Context, q *Query) (data.Frames, error) {
	switch q.Kind {
	case kindVerdict, kindSteps, kindKnee, kindLittle, kindFindings, kindAnnotations:
		v, err := d.client.Verdict(ctx, q.Run, q.params())
		if err != nil {
			return nil, err
		}
		return d.judged(q, v), nil
	case kindSeries:
		return d.series(ctx, q)
	case kindSpectrum:
		return d.spectrum(ctx, q)
	case kindHeatmap:
		return d.heatmap(ctx, q)
	case kindGoodput:
		return d.goodput(ctx, q)
	case kindCompare:
		return d.compare(ctx, q)
	case kindRuns:
		return d.runs(ctx, q)
	case kindCapacity:
		return d.capacity(ctx, q)
	case kindAlert:
		return d.alert(ctx, q)
	}
	return nil, fmt.Errorf("answer query: kind %q has no frames", q.Kind)
}

// judged answers what a verdict document answers alone.
func (d *Datasource) judged(q *Query, v *wire.Verdict) data.Frames {
	var out data.Frames
	switch q.Kind {
	case kindVerdict:
		out = data.Frames{d.verdict(v)}
	case kindSteps:
		out = data.Frames{d.steps(v, q)}
	case kindKnee:
		out = kneeFrames(v)
	case kindLittle:
		out = data.Frames{little(v, q)}
	case kindFindings:
		out = data.Frames{d.findings(v, q)}
	default:
		return data.Frames{cut(annotations(v, q), d.settings.MaxRows, "annotations, the first in time,")}
	}
	for _, f := range out {
		cut(f, d.settings.MaxRows, "rows")
	}
	for _, text := range doubts(v) {
		info(out[0], text)
	}
	return out
}

// doubts are what a reader of any number of the run should know.
func doubts(v *wire.Verdict) []string {
	var out []string
	if g := v.Run.Grade; g != nil {
		if text, ok := map[string]string{
			"S": "Grade S: no intended times are known. Times count from the send and miss the generator's lateness.",
			"E": "Grade E: times are back-filled from an expected interval.",
			"F": "Grade F: the generator exports counts alone. Nothing can be corrected.",
			"X": "Grade X: times were corrected by the tool itself.",
		}[*g]; ok {
			out = append(out, text)
		}
	}
	if v.Run.State == wire.Live {
		text := "The run goes on. What is shown has settled up to " + at(v.Horizon.At) + "."
		if v.Horizon.HeldBy != nil {
			text += " The source " + *v.Horizon.HeldBy + " is silent and holds the rest back."
		}
		out = append(out, text)
	}
	if v.Horizon.Assumed {
		out = append(out, "No time-out is declared: a longer request may still come.")
	}
	if !v.Audit.Valid {
		out = append(out, "The generator or the data cannot be trusted: see the findings of severity invalid.")
	}
	return out
}

// picked are the steps that a query asks for, by name, index or rate.
func picked(v *wire.Verdict, q *Query) []*wire.Step {
	want := strings.Split(strings.Trim(q.Step, "{}()"), ",")
	var out []*wire.Step
	for i := range v.Steps {
		s := &v.Steps[i]
		for _, w := range want {
			if w = strings.TrimSpace(w); w == "" || w == s.Name || w == strconv.Itoa(s.Index) || w == stepName(s) {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// cut leaves the first rows of a frame and says so.
func cut(f *data.Frame, most int, what string) *data.Frame {
	all := f.Rows()
	if all <= most {
		return f
	}
	for i, from := range f.Fields {
		to := data.NewFieldFromFieldType(from.Type(), most)
		to.Name, to.Labels, to.Config = from.Name, from.Labels, from.Config
		for k := range most {
			to.Set(k, from.At(k))
		}
		f.Fields[i] = to
	}
	warn(f, fmt.Sprintf("Cut: %d of %d %s are shown.", most, all, what))
	return f
}

// column takes one value of each step.
func column[T any](steps []*wire.Step, value func(s *wire.Step) T) []T {
	out := make([]T, len(steps))
	for i, s := range steps {
		out[i] = value(s)
	}
	return out
}

package plugin

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// spectrum is response time as users felt it beside the uncorrected time, by
// 1/(1−q) on a logarithmic axis.
func (d *Datasource) spectrum(ctx context.Context, q *Query) (data.Frames, error) {
	v, err := d.client.Verdict(ctx, q.Run, q.params())
	if err != nil {
		return nil, err
	}
	asked := picked(v, q)
	with := q.params()
	if q.Step != "" {
		with.Set("steps", indexes(asked))
	}
	got, err := d.client.Spectrum(ctx, v.Run.ID, with)
	if err != nil {
		return nil, err
	}
	left, of := "", ""
	if shown := stretch(asked); len(got.Response) == 0 && len(shown) > 0 {
		with.Set("steps", indexes(shown))
		if got, err = d.client.Spectrum(ctx, v.Run.ID, with); err != nil {
			return nil, err
		}
		which, steps := "step", stepName(shown[0])
		if len(shown) > 1 {
			which, steps = "steps", steps+" to "+stepName(shown[len(shown)-1])
		}
		left = fmt.Sprintf("Only the %s %s: the percentiles of the whole are refused.", which, steps)
		of = " (" + steps + ")" // which an XY chart moves from both names to the axis
		asked = shown
	}
	out := data.Frames{
		spectrumFrame("response", "Response time, corrected"+of, orange, got.Response),
		spectrumFrame("service", "Service time, uncorrected"+of, grey, got.Service),
	}
	// Dashed, so that both are seen where they are the same.
	custom(out[1].Fields[1], "lineStyle", map[string]any{"fill": "dash", "dash": []int{6, 6}})
	if len(got.Response) == 0 {
		warn(out[0], "Response time: "+refusal(&v.Totals.ResponseTime)+".")
	}
	if left != "" {
		warn(out[0], left)
	}
	for _, p := range got.Response {
		if p.Seconds == nil {
			warn(out[0], "The line ends where requests were never seen to end: beyond, times are longer than the last point.")
			break
		}
	}
	if len(asked) > 1 {
		info(out[0], "All these steps together: rates are mixed.")
	}
	for _, text := range doubts(v) {
		info(out[0], text)
	}
	return out, nil
}

// stretch is the longest stretch of steps whose percentiles are not refused, by the
// requests due in it.
func stretch(steps []*wire.Step) []*wire.Step {
	var out []*wire.Step
	var most, due int64
	begun := 0
	for i, s := range steps {
		if !s.ResponseTime.Valid {
			begun, due = i+1, 0
			continue
		}
		if due += s.Due; due > most {
			out, most = steps[begun:i+1], due
		}
	}
	return out
}

// indexes writes which steps are asked for.
func indexes(steps []*wire.Step) string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = strconv.Itoa(s.Index)
	}
	return strings.Join(out, ",")
}

func spectrumFrame(name, title, with string, points []wire.SpectrumPoint) *data.Frame {
	var x, y []float64
	var label []string
	for _, p := range points {
		if p.Inverse == nil || p.Seconds == nil {
			continue // quantile 1 lies at infinity; censored requests have no time
		}
		x, y, label = append(x, *p.Inverse), append(y, *p.Seconds), append(label, percentile(p.Quantile))
	}
	inverse := field("one_over_one_minus_q", "Percentile", x)
	custom(inverse, "scaleDistribution", map[string]any{"type": "log", "log": 10})
	inverse.Config.Mappings = data.ValueMappings{data.ValueMapper{
		"1": {Text: "p0"}, "10": {Text: "p90"}, "100": {Text: "p99"}, "1000": {Text: "p99.9"}, "10000": {Text: "p99.99"},
		"100000": {Text: "p99.999"}, "1000000": {Text: "p99.9999"}, "10000000": {Text: "p99.99999"},
	}}
	return shown(table(name, inverse, colour(unit(field(name, title, y), unitSeconds), with), field("percentile", "Exactly", label)), "xychart")
}

func percentile(q float64) string {
	return "p" + strconv.FormatFloat(math.Round(q*1e8)/1e6, 'f', -1, 64)
}

package plugin

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

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
	got, err := d.client.Spectrum(ctx, v.Run.ID, q.params())
	if err != nil {
		return nil, err
	}
	left := ""
	if len(got.Response) == 0 {
		if got, left, err = d.stretch(ctx, q, v, got); err != nil {
			return nil, err
		}
	}
	out := data.Frames{
		spectrumFrame("response", "Response time, corrected", orange, got.Response),
		spectrumFrame("service", "Service time, uncorrected", grey, got.Service),
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
	if len(v.Steps) > 1 {
		info(out[0], "All steps of the run together: rates are mixed.")
	}
	for _, text := range doubts(v) {
		info(out[0], text)
	}
	return out, nil
}

// stretch asks for the longest stretch of steps whose percentiles are not refused,
// where those of the whole run are, and says what is left out.
func (d *Datasource) stretch(ctx context.Context, q *Query, v *wire.Verdict, whole *wire.Spectrum) (*wire.Spectrum, string, error) {
	first, last, begun := -1, -2, -1
	due := func(a, b int) (n int64) {
		for i := a; i >= 0 && i <= b; i++ {
			n += v.Steps[i].Due
		}
		return n
	}
	for i := range v.Steps {
		switch {
		case !v.Steps[i].ResponseTime.Valid:
			begun = -1
			continue
		case begun < 0:
			begun = i
		}
		if due(begun, i) > due(first, last) {
			first, last = begun, i
		}
	}
	if first < 0 {
		return whole, "", nil
	}
	with := q.params()
	with.Set("from", v.Steps[first].From.UTC().Format(time.RFC3339Nano))
	with.Set("to", v.Steps[last].To.UTC().Format(time.RFC3339Nano))
	got, err := d.client.Spectrum(ctx, v.Run.ID, with)
	if err != nil {
		return nil, "", err
	}
	return got, fmt.Sprintf("Only the steps %s to %s: the percentiles of the whole run are refused (%s).",
		stepName(&v.Steps[first]), stepName(&v.Steps[last]), refusal(&v.Totals.ResponseTime)), nil
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
		"100000": {Text: "p99.999"}, "1000000": {Text: "p99.9999"},
	}}
	return shown(table(name, inverse, colour(unit(field(name, title, y), unitSeconds), with), field("percentile", "Exactly", label)), "xychart")
}

func percentile(q float64) string {
	return "p" + strconv.FormatFloat(math.Round(q*1e8)/1e6, 'f', -1, 64)
}

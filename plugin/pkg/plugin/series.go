package plugin

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// most points that the server gives.
const mostPoints = 11_000

// series are columns over time, of one run.
func (d *Datasource) series(ctx context.Context, q *Query) (data.Frames, error) {
	v, err := d.client.Verdict(ctx, q.Run, q.params())
	if err != nil {
		return nil, err
	}
	if len(q.Names) == 0 {
		f := typed(data.FrameTypeTimeSeriesWide, "series")
		info(f, "No columns are asked for: the run has none of this kind.")
		return data.Frames{f}, nil
	}
	with := q.params()
	with.Set("names", strings.Join(q.Names, ","))
	with.Set("max_points", strconv.Itoa(q.points(mostPoints)))
	part := narrow(q, v, with)
	got, err := d.client.Series(ctx, v.Run.ID, with)
	if err != nil {
		return nil, err
	}
	f := typed(data.FrameTypeTimeSeriesWide, "series")
	if q.Clock == "elapsed" {
		f.Meta.Type = data.FrameTypeTable
		f.Fields = append(f.Fields, unit(field("elapsed", "Since the start", elapsed(got.Time)), unitSeconds))
	} else {
		f.Fields = append(f.Fields, field("time", "Time", got.Time))
		if len(got.Time) > 1 {
			f.Fields[0].Config.Interval = float64(got.Time[1].Sub(got.Time[0]).Milliseconds())
		}
	}
	for _, name := range q.Names {
		column := got.Columns[name]
		if len(column) != len(got.Time) {
			column = make([]*float64, len(got.Time)) // the server does not know it
		}
		if len(column) > 0 && !slices.ContainsFunc(column, func(v *float64) bool { return v != nil }) {
			title, _ := seriesTitle(name)
			warn(f, title+": no number at any time. "+silence(name))
			continue // an empty curve would look like one that is 0
		}
		f.Fields = append(f.Fields, seriesField(v, q, name, column))
	}
	if len(f.Fields) == 1 {
		f.Fields = nil
	}
	if len(got.Time) == 0 {
		info(f, "The run has no requests to show over time.")
	}
	if part {
		info(f, "Only a part of the run is shown, finer than the whole.")
	}
	if slices.ContainsFunc(q.Names, func(n string) bool { return strings.HasPrefix(n, "response_") }) {
		refusals(f, picked(v, q))
	}
	for _, text := range doubts(v) {
		info(f, text)
	}
	if q.Clock == "elapsed" {
		return curves(f), nil
	}
	return data.Frames{shown(f, "timeseries")}, nil
}

// curves divides a frame into one for each column, without its nulls: an XY chart
// draws a null as 0.
func curves(f *data.Frame) data.Frames {
	out := data.Frames{}
	for i := 1; i < len(f.Fields); i++ {
		var x, y []float64
		for k := range f.Fields[i].Len() {
			if v, ok := f.Fields[i].At(k).(*float64); ok && v != nil {
				x, y = append(x, f.Fields[0].At(k).(float64)), append(y, *v)
			}
		}
		values, clock := field(f.Fields[i].Name, "", y), field(f.Fields[0].Name, "", x)
		values.Config, values.Labels, clock.Config = f.Fields[i].Config, f.Fields[i].Labels, f.Fields[0].Config
		out = append(out, shown(table(f.Fields[i].Name, clock, values), "xychart"))
	}
	if len(out) == 0 {
		return append(out, f)
	}
	out[0].Meta.Notices = f.Meta.Notices
	return out
}

// silence says why a column may have no number.
func silence(name string) string {
	switch {
	case strings.Contains(name, "_p"):
		return "Either nothing of the kind was measured, or there are too few requests within each point: see the steps, or show fewer points."
	case name == "goodput":
		return "No deadline is declared: set one."
	case strings.HasPrefix(name, "queue:"):
		return "No server exported it while the run went on."
	}
	return "The data do not say it."
}

// points is how many points a panel can show, within the bounds.
func (q *Query) points(most int) int {
	if q.maxPoints <= 0 {
		return min(1000, most)
	}
	return int(min(max(q.maxPoints, 10), int64(most)))
}

// narrow restricts a question to the range of the dashboard where that shows
// more than the whole run would: when it is less than half of it. The ends lie
// on whole minutes, so that a range that moves asks the same for a while.
func narrow(q *Query, v *wire.Verdict, with url.Values) bool {
	if v.Run.StartedAt == nil || v.Run.EndedAt == nil || q.Clock == "elapsed" {
		return false
	}
	from, to := q.span.From.Truncate(time.Minute), q.span.To.Add(time.Minute).Truncate(time.Minute)
	start, end := *v.Run.StartedAt, *v.Run.EndedAt
	if from.Before(start) {
		from = start
	}
	if to.After(end) {
		to = end
	}
	if !from.Before(to) || 2*to.Sub(from) > end.Sub(start) {
		return false
	}
	with.Set("from", from.UTC().Format(time.RFC3339Nano))
	with.Set("to", to.UTC().Format(time.RFC3339Nano))
	return true
}

func elapsed(times []time.Time) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = t.Sub(times[0]).Seconds()
	}
	return out
}

// seriesField is one column, with its unit and colour.
func seriesField(v *wire.Verdict, q *Query, name string, values []*float64) *data.Field {
	title, id := seriesTitle(name)
	if queue, ok := strings.CutPrefix(name, "queue:"); ok {
		title, id = queue, unitCount
		for _, known := range v.Run.Queues {
			if known.Name == queue {
				id = queueUnit(known.Unit)
			}
		}
	}
	f := unit(field(name, title, values), id)
	f.Labels = data.Labels{"run_name": runName(v.Run.ID, v.Run.Name)}
	if q.Clock == "elapsed" {
		return f
	}
	if c, ok := seriesColours()[name]; ok {
		colour(f, c)
	}
	if name == "in_flight_provisional" {
		custom(f, "lineStyle", map[string]any{"fill": "dash", "dash": []int{4, 6}})
	}
	return f
}

// seriesTitle is how a column is shown, and its unit.
func seriesTitle(name string) (title, id string) {
	switch name {
	case "in_flight":
		return "In flight, settled", unitCount
	case "in_flight_provisional":
		return "In flight, provisional", unitCount
	case "tokens":
		return "Tokens per second", unitCount
	}
	for prefix, what := range map[string]string{
		"response_p": "response", "service_p": "uncorrected", "send_delay_p": "send delay", "first_byte_p": "first byte", "inter_token_p": "between tokens",
	} {
		if q, ok := strings.CutPrefix(name, prefix); ok {
			if q == "999" {
				q = "99.9"
			}
			return "p" + q + " " + what, unitSeconds
		}
	}
	return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):], unitRate
}

// queueUnit turns a unit of telemetry (UCUM) into one of Grafana.
func queueUnit(ucum string) string {
	switch ucum {
	case "s":
		return unitSeconds
	case "1/s":
		return unitRate
	case "By":
		return "bytes"
	}
	return unitCount
}

func seriesColours() map[string]string {
	return map[string]string{
		"offered": grey, "completed": blue, "goodput": green, "error": red, "timeout": orange, "shed": yellow, "cancelled": purple,
		"dropped": "dark-red", "retries": "dark-orange", "in_flight": blue, "in_flight_provisional": grey,
		"response_p50": "light-blue", "response_p99": orange, "response_p999": red, "service_p99": grey, "service_p50": "#c0c0c8",
	}
}

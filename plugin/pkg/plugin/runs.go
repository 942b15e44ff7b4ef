package plugin

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

const (
	pageOfRuns = 500  // the server's largest page
	mostListed = 5000 // runs that an alert looks at
	mostJudged = 200  // runs whose verdicts one query asks for
)

// list returns at most most runs, newest first, and whether there are more.
func (d *Datasource) list(ctx context.Context, search string, most int) (runs []wire.RunItem, more bool, err error) {
	cursor := ""
	for len(runs) < most {
		q := url.Values{"limit": {strconv.Itoa(min(pageOfRuns, most-len(runs)))}}
		if search != "" {
			q.Set("q", search)
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		page, err := d.client.Runs(ctx, q)
		if err != nil {
			return nil, false, err
		}
		runs, cursor = append(runs, page.Runs...), page.NextCursor
		if cursor == "" || len(page.Runs) == 0 {
			return runs, false, nil
		}
	}
	return runs, true, nil
}

// runs is a row per run, newest first.
func (d *Datasource) runs(ctx context.Context, q *Query) (data.Frames, error) {
	list, more, err := d.list(ctx, q.Search, min(q.Limit, d.settings.MaxRows))
	if err != nil {
		return nil, err
	}
	n := len(list)
	ids, names, states, generators, headlines := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	outcome, lasts := make([]*float64, n), make([]*float64, n)
	started, ended := make([]*time.Time, n), make([]*time.Time, n)
	from, to := make([]string, n), make([]string, n)
	for i := range list {
		r := &list[i]
		ids[i], names[i], states[i], generators[i], headlines[i] = r.ID, runName(r.ID, r.Name), r.State, r.Generator, r.Headline
		outcome[i], started[i], ended[i] = outcomeCode(r.Outcome), r.StartedAt, r.EndedAt
		from[i], to[i] = "now-15m", "now"
		if r.StartedAt != nil && r.EndedAt != nil {
			lasts[i] = some(r.EndedAt.Sub(*r.StartedAt).Seconds())
			from[i], to[i] = millis(r.StartedAt.Add(-2*time.Second)), millis(r.EndedAt.Add(2*time.Second))
		}
	}
	link := field("run", "Run", ids)
	link.Config.Links = []data.DataLink{{
		Title: "Open the run",
		URL: "/d/" + url.PathEscape(d.settings.DashboardUID) + "?var-ds=" + url.QueryEscape(d.uid) +
			"&var-run=${__value.raw:percentencode}&from=${__data.fields.from_ms:raw}&to=${__data.fields.to_ms:raw}",
	}}
	code := mapped(field("outcome", "Outcome", outcome), outcomes())
	code.Config.NoValue = "not judged yet"
	f := table(
		"runs",
		code, field("name", "Name", names), link, field("headline", "Headline", headlines),
		mapped(field("state", "State", states), words()), unit(field("started", "Started", started), unitTime),
		unit(field("lasts", "Lasts", lasts), unitSeconds), field("generator", "Generator", generators),
		hidden(field("ended", "Ended", ended)), hidden(field("from_ms", "From", from)), hidden(field("to_ms", "To", to)),
	)
	if more {
		warn(f, fmt.Sprintf("Cut: the newest %d runs are shown, there are more.", n))
	}
	return data.Frames{shown(f, "table")}, nil
}

// verdicts asks for the verdicts on runs, some at once; nil where one failed.
func (d *Datasource) verdicts(ctx context.Context, q *Query, list []wire.RunItem) ([]*wire.Verdict, error) {
	out := make([]*wire.Verdict, len(list))
	failed := make([]error, len(list))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i], failed[i] = d.client.Verdict(ctx, list[i].ID, q.params())
		})
	}
	wg.Wait()
	all := len(list) > 0
	for i := range out {
		all = all && out[i] == nil
	}
	if all { // not one could be judged: that is no empty answer
		return nil, failed[0]
	}
	return out, nil
}

// capacity is what each service carried, over the times of its runs.
func (d *Datasource) capacity(ctx context.Context, q *Query) (data.Frames, error) {
	most := min(q.Limit, mostJudged)
	list, more, err := d.list(ctx, q.Search, most)
	if err != nil {
		return nil, err
	}
	verdicts, err := d.verdicts(ctx, q, list)
	if err != nil {
		return nil, err
	}
	byName := map[string][]*wire.Verdict{}
	missing := 0
	for _, v := range verdicts {
		switch {
		case v == nil || v.Run.StartedAt == nil || v.Knee.Capacity == nil || v.Knee.Capacity.Value == nil:
			missing++
		default:
			name := runName(v.Run.ID, v.Run.Name)
			byName[name] = append(byName[name], v)
		}
	}
	var out data.Frames
	for name, all := range byName {
		slices.SortStableFunc(all, func(a, b *wire.Verdict) int {
			return cmp.Compare(a.Run.StartedAt.UnixNano(), b.Run.StartedAt.UnixNano())
		})
		times, values := make([]time.Time, len(all)), make([]float64, len(all))
		for i, v := range all {
			times[i], values[i] = *v.Run.StartedAt, *v.Knee.Capacity.Value
		}
		y := unit(field("capacity", name, values), unitRate)
		y.Labels = data.Labels{"run_name": name}
		out = append(out, shown(typed(data.FrameTypeTimeSeriesMulti, name, field("time", "Time", times), y), "timeseries"))
	}
	slices.SortFunc(out, func(a, b *data.Frame) int { return cmp.Compare(a.Name, b.Name) })
	if len(out) == 0 {
		out = data.Frames{typed(data.FrameTypeTimeSeriesMulti, "capacity")}
	}
	if missing > 0 {
		info(out[0], fmt.Sprintf("%d of %d runs found no capacity: they were not pushed past it, or cannot be judged.", missing, len(list)))
	}
	if more {
		warn(out[0], fmt.Sprintf("Cut: the newest %d runs are shown, there are more.", len(list)))
	}
	return out, nil
}

// Command dashboard measures what it costs to open a dashboard on a run: it starts
// the built program on a data directory, reads the queries of a dashboard's file,
// and puts them to the backend of the Grafana data source as a browser does, one
// request for each panel and annotation, six under way.
//
//	go run ./internal/bench/rows -rows 86400000 -rate 1000 -streams 10 -keep /tmp/day
//	go run ./internal/bench/dashboard -program bin/plimsoll -data /tmp/day
//
// The first time nothing is warm: the server has just started. It prints, for each
// time, the wall clock, the sum over all requests, and the longest.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/internal/program"
	"github.com/plimsoll/plimsoll/plugin/pkg/plugin"
)

// underWay is how many requests a browser has under way to one host.
const underWay = 6

type config struct {
	program, data, run, file, deadline string
	times                              int
}

func main() {
	var c config
	flag.StringVar(&c.program, "program", "bin/plimsoll", "the built program")
	flag.StringVar(&c.data, "data", "", "its data directory")
	flag.StringVar(&c.run, "run", "latest", "the run")
	flag.StringVar(&c.file, "dashboard", "dashboards/run.json", "file of the dashboard")
	flag.StringVar(&c.deadline, "deadline", "", "value of its variable deadline")
	flag.IntVar(&c.times, "times", 4, "how often it is opened")
	flag.Parse()
	if err := run(context.Background(), c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, out io.Writer) (err error) {
	if c.data == "" {
		return errors.New("-data must name a data directory")
	}
	server, err := program.Serve(ctx, c.program, c.data, io.Discard, "--retention-age", "0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	body, err := server.Call(ctx, http.MethodGet, "/api/v1/runs?limit=1", nil)
	if err != nil {
		return err
	}
	var list wire.RunList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	if len(list.Runs) == 0 || list.Runs[0].StartedAt == nil || list.Runs[0].EndedAt == nil {
		return errors.New("no run is kept there")
	}
	first := list.Runs[0]
	panels, err := read(c, backend.TimeRange{From: *first.StartedAt, To: *first.EndedAt})
	if err != nil {
		return err
	}
	made, err := plugin.NewDatasource(ctx, backend.DataSourceInstanceSettings{UID: "bench", URL: "http://" + server.API, JSONData: []byte("{}")})
	if err != nil {
		return err
	}
	d := made.(*plugin.Datasource)
	defer d.Dispose()
	fmt.Fprintf(out, "%s of %s, %d requests\n", c.file, first.EndedAt.Sub(*first.StartedAt).Round(time.Second), len(panels))
	for i := range c.times {
		o, err := open(ctx, d, panels)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "time %d: %.0f ms wall, %.0f ms in all, longest %.0f ms (%s), %d values", i+1, millis(o.wall), millis(o.sum), millis(o.longest), o.slowest, o.values)
		if o.failed > 0 {
			fmt.Fprintf(out, ", %d failed: %v", o.failed, o.why)
		}
		fmt.Fprintln(out)
	}
	return nil
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

// request is what one panel or annotation asks.
type request struct {
	title   string
	queries []backend.DataQuery
}

// read reads the queries of a dashboard, with its variables filled in.
func read(c config, span backend.TimeRange) ([]request, error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil, err
	}
	var file struct {
		Panels []struct {
			Title   string
			Targets []map[string]any
		}
		Annotations struct {
			List []struct {
				Name   string
				Target map[string]any
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", c.file, err)
	}
	var out []request
	add := func(title string, targets ...map[string]any) error {
		r := request{title: title}
		for i, t := range targets {
			if t["queryType"] == nil {
				continue // an annotation of Grafana itself
			}
			t["run"], t["deadline"], t["scenario"] = c.run, c.deadline, ""
			if names, ok := t["names"].([]any); ok {
				t["names"] = slices.DeleteFunc(names, func(n any) bool { return n == "${queue:csv}" })
			}
			text, err := json.Marshal(t)
			if err != nil {
				return err
			}
			r.queries = append(r.queries, backend.DataQuery{
				RefID: strconv.Itoa(i), QueryType: t["queryType"].(string), JSON: text, MaxDataPoints: 1000, TimeRange: span,
			})
		}
		if len(r.queries) > 0 {
			out = append(out, r)
		}
		return nil
	}
	for _, p := range file.Panels {
		err = errors.Join(err, add(p.Title, p.Targets...))
	}
	for _, a := range file.Annotations.List {
		err = errors.Join(err, add(a.Name, a.Target))
	}
	return out, err
}

// opened is what it took to open a dashboard.
type opened struct {
	wall, sum, longest time.Duration
	slowest            string
	values, failed     int
	why                error // one failed
}

// open answers all requests.
func open(ctx context.Context, d *plugin.Datasource, all []request) (opened, error) {
	var out opened
	var failed error
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, underWay)
	begin := time.Now()
	for _, r := range all {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			start := time.Now()
			got, err := d.QueryData(ctx, &backend.QueryDataRequest{Queries: r.queries})
			took := time.Since(start)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			out.sum += took
			if took > out.longest {
				out.longest, out.slowest = took, r.title
			}
			if got == nil {
				return
			}
			for _, one := range got.Responses {
				if one.Error != nil {
					out.failed, out.why = out.failed+1, one.Error
				}
				for _, f := range one.Frames {
					out.values += len(f.Fields) * f.Rows()
				}
			}
		})
	}
	wg.Wait()
	out.wall = time.Since(begin)
	return out, failed
}

// Command alerts measures how soon a run that turns unstable is heard of: it
// plays simulated runs back in real time, through the real ports of a server, and
// waits for the webhook.
//
//	go run ./internal/bench/alerts -program bin/plimsoll -runs 20 -rho 1.25
//	go run ./internal/bench/alerts -program bin/plimsoll -runs 20 -healthy -load 0.85
//	go run ./internal/bench/alerts -program bin/plimsoll -runs 20 -healthy -load 0.7 -stop 2s
//	go run ./internal/bench/alerts -program bin/plimsoll -prometheus
//
// Each run offers 100 requests a second in a declared schedule to a service of
// four workers with exponential times. After a healthy minute at 0.7 of its
// capacity the service loses speed, so that the load is rho times what it carries;
// after another minute it has its speed back, and answers in time again once it has
// worked off what it still holds. Clients give up after two seconds.
// Every generator exports once a second what has ended. With -healthy, runs of
// 30 minutes of event time at a load of the capacity are sent as fast as they are
// taken, each with one stop in its middle where -stop says so, and nothing may
// alert.
// With -prometheus, one run is told of by a Prometheus with the rules of
// deploy/alerts and an Alertmanager, both from the PATH.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/internal/program"
)

type config struct {
	program string
	runs    int
	rho     float64
	healthy bool
	load    float64 // of healthy runs
	stop    time.Duration
	rules   string // of Prometheus
	seed    uint64
}

func main() {
	var c config
	flag.StringVar(&c.program, "program", "bin/plimsoll", "the built server")
	flag.IntVar(&c.runs, "runs", 20, "number of runs, at the same time")
	flag.Float64Var(&c.rho, "rho", 1.25, "load over capacity in the second minute")
	flag.BoolVar(&c.healthy, "healthy", false, "send healthy runs of half an hour instead")
	flag.Float64Var(&c.load, "load", 0.85, "of healthy runs, over the capacity")
	flag.DurationVar(&c.stop, "stop", 0, "of the service, in the middle of healthy runs")
	prometheus := flag.Bool("prometheus", false, "let Prometheus and Alertmanager tell of one run")
	flag.StringVar(&c.rules, "rules", "deploy/alerts/plimsoll.rules.yaml", "rules for Prometheus")
	flag.Uint64Var(&c.seed, "seed", 1, "of the first run")
	flag.Parse()
	run := measure
	if *prometheus {
		run = throughPrometheus
	}
	if err := run(context.Background(), c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "alerts:", err)
		os.Exit(1)
	}
}

// heard is when a run's alert began and ended, on this machine's clock.
type heard struct {
	mu              sync.Mutex
	fired, resolved map[string]time.Time
	all             []string // that began to fire, with what they say
}

// ServeHTTP takes what the webhook posts.
func (h *heard) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var a struct {
		Status string `json:"status"`
		RunID  string `json:"run_id"`
		Text   string `json:"text"`
		Labels struct {
			Name string `json:"alertname"`
		} `json:"labels"`
	}
	if json.NewDecoder(r.Body).Decode(&a) != nil {
		return
	}
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.Status == "firing" {
		h.all = append(h.all, a.Text)
	}
	if a.Labels.Name != "PlimsollUnstable" {
		return
	}
	if _, seen := h.fired[a.RunID]; a.Status == "firing" && !seen {
		h.fired[a.RunID] = now
	} else if a.Status == "resolved" {
		h.resolved[a.RunID] = now
	}
}

func measure(ctx context.Context, c config, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "alerts-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h := &heard{fired: map[string]time.Time{}, resolved: map[string]time.Time{}}
	hook := httptest.NewServer(h)
	defer hook.Close()
	srv, err := program.Serve(ctx, c.program, dir, os.Stderr, "--alert-webhook", hook.URL, "--alert-form", "json", "--log-level", "warn")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Stop()) }()

	var wg sync.WaitGroup
	all := make([]*play, c.runs)
	errs := make([]error, c.runs)
	for i := range all {
		all[i] = newPlay(c, c.seed+uint64(i))
		wg.Go(func() { errs[i] = all[i].run(ctx, srv) })
		time.Sleep(time.Second / time.Duration(c.runs)) // exports spread over the second
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	time.Sleep(5 * time.Second)
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.healthy {
		fmt.Fprintf(out, "%d healthy runs of half an hour at %v, with a stop of %v: %d alerts\n", c.runs, c.load, c.stop, len(h.all))
		for _, text := range h.all {
			fmt.Fprintln(out, text)
		}
		return nil
	}
	var fired, resolved []float64
	early, missed := 0, 0
	for _, p := range all {
		at, ok := h.fired[p.id]
		switch d := at.Sub(p.start.Add(lostAt)).Seconds(); {
		case !ok:
			missed++
		case d < 0:
			early++
		default:
			fired = append(fired, d)
		}
		if at, ok := h.resolved[p.id]; ok {
			resolved = append(resolved, at.Sub(p.start.Add(p.back)).Seconds())
		}
	}
	fmt.Fprintf(out, "rho %v, %d runs: alert after %s, %d missed, %d too early; resolved %s after requests are answered in time again, %d of %d\n",
		c.rho, c.runs, quantiles(fired), missed, early, quantiles(resolved), len(resolved), c.runs)
	return nil
}

// quantiles writes median, p90 and the longest.
func quantiles(all []float64) string {
	if len(all) == 0 {
		return "never"
	}
	slices.Sort(all)
	at := func(q float64) float64 { return all[min(len(all)-1, int(q*float64(len(all))))] }
	return fmt.Sprintf("%.1f s (median; p90 %.1f, longest %.1f)", at(0.5), at(0.9), all[len(all)-1])
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/internal/program"
)

// said is what Alertmanager tells a receiver of one alert.
type said struct {
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// listener is a receiver of Alertmanager's webhook.
type listener struct {
	mu  sync.Mutex
	all []said
	at  []time.Time
}

// ServeHTTP implements http.Handler.
func (l *listener) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var m struct {
		Alerts []said `json:"alerts"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range m.Alerts {
		l.all = append(l.all, a)
		l.at = append(l.at, time.Now())
	}
}

const prometheusYAML = `global: {scrape_interval: 2s, evaluation_interval: 2s}
rule_files: [%q]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs: [{job_name: plimsoll, static_configs: [{targets: [%q]}]}]
`

const alertmanagerYAML = `route: {receiver: here, group_by: [alertname, run_name], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: here, webhook_configs: [{url: %q, send_resolved: true}]}]
`

// throughPrometheus plays one run back and lets a real Prometheus with the rules
// of deploy/alerts and a real Alertmanager tell of it.
func throughPrometheus(ctx context.Context, c config, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir, err := os.MkdirTemp("", "prometheus-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l := &listener{}
	hook := httptest.NewServer(l)
	defer hook.Close()
	srv, err := program.Serve(ctx, c.program, filepath.Join(dir, "data"), os.Stderr, "--log-level", "warn")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Stop()) }()
	rules, err := filepath.Abs(c.rules)
	if err != nil {
		return err
	}
	managed, scraped := freeAddr(), freeAddr()
	for _, p := range []struct {
		name, config string
		args         []string
	}{
		{"prometheus-alertmanager", fmt.Sprintf(alertmanagerYAML, hook.URL), []string{"--web.listen-address=" + managed, "--cluster.listen-address=", "--storage.path=" + dir + "/am"}},
		{"prometheus", fmt.Sprintf(prometheusYAML, rules, managed, srv.API), []string{"--web.listen-address=" + scraped, "--storage.tsdb.path=" + dir + "/tsdb"}},
	} {
		file := filepath.Join(dir, p.name+".yml")
		if err := os.WriteFile(file, []byte(p.config), 0o600); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, p.name, append(p.args, "--config.file="+file)...) //nolint:gosec // names are above
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start %s: %w (Debian has it in prometheus and prometheus-alertmanager)", p.name, err)
		}
		defer func() { cancel(); _ = cmd.Wait() }()
	}
	p := newPlay(c, c.seed)
	if err := p.run(ctx, srv); err != nil {
		return err
	}
	time.Sleep(20 * time.Second) // for what resolves last
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, a := range l.all {
		fmt.Fprintf(out, "%6.1f s after the onset: %s %s %v: %s\n",
			l.at[i].Sub(p.start.Add(lostAt)).Seconds(), a.Labels["alertname"], a.Status, a.Labels, a.Annotations["description"])
	}
	if len(l.all) == 0 {
		return errors.New("nothing was heard")
	}
	return nil
}

// freeAddr returns a loopback address that nobody listens on.
func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}

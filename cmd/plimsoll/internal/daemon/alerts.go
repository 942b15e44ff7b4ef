package daemon

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/alert"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/outward"
)

// Times of the watch: how often it looks whether runs have changed, how often at
// most it has one judged that goes on, and how long a webhook may take to answer.
const (
	watchEvery     = 250 * time.Millisecond
	judgeEvery     = 5 * time.Second
	webhookTimeout = 10 * time.Second
)

// watched gives the watcher what it asks of runs.
type watched struct{ d *Daemon }

// Live implements alert.Runs.
func (w watched) Live() []alert.Live {
	infos := w.d.runs.Live()
	out := make([]alert.Live, len(infos))
	for i := range infos {
		out[i] = alert.Live{ID: infos[i].ID, Name: infos[i].Name, Revision: infos[i].Revision}
	}
	return out
}

// Open implements alert.Runs.
func (w watched) Open(ctx context.Context, id string, place uint64) (fold.Evidence, error) {
	return w.d.runs.OpenFrom(ctx, id, place)
}

// Judge implements alert.Runs.
func (w watched) Judge(ctx context.Context, id string) (*wire.Verdict, error) {
	return w.d.api.Judge(ctx, id)
}

// prepareAlerts makes what watches runs and speaks of them; nothing is at work
// before startAlerts.
func (d *Daemon) prepareAlerts() error {
	book, err := alert.OpenBook(filepath.Join(d.cfg.DataDir, "alerts.json"))
	if err != nil {
		return err
	}
	if line := d.cfg.OnVerdict; line != "" {
		d.command = alert.NewCommand(line, watched{d}.Judge, d.cfg.Environ, d.cfg.Log)
	}
	d.watcher = alert.NewWatcher(alert.Config{
		JudgeEvery: judgeEvery, Looks: 2, Now: d.cfg.Now, Log: d.cfg.Log, Raised: d.raised,
	}, watched{d}, book)
	d.outward, err = outward.New(context.Background(), outward.Config{
		Lookup: lookupIn(d.cfg.Environ), Version: d.cfg.Version, Statuses: d.watcher.Statuses,
	})
	if err != nil {
		return fmt.Errorf("send OTLP: %w", err)
	}
	return nil
}

func lookupIn(environ []string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		for _, v := range environ {
			if k, value, _ := strings.Cut(v, "="); k == name {
				return value, true
			}
		}
		return "", false
	}
}

// startAlerts begins to watch the runs that go on.
func (d *Daemon) startAlerts() {
	ctx, cancel := context.WithCancel(context.Background())
	d.stopWatching = cancel
	if d.command != nil {
		d.background.Go(func() { d.command.Run(ctx) })
	}
	d.background.Go(func() {
		t := time.NewTicker(watchEvery)
		defer t.Stop()
		defer d.watcher.Wait()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				d.watcher.Tick(ctx)
			}
		}
	})
	if d.cfg.AlertWebhook == "" {
		return
	}
	hook := &alert.Webhook{
		URL: d.cfg.AlertWebhook, Form: alert.Form(d.cfg.AlertForm), Server: d.server(), Book: d.watcher.Book(),
		Client: &http.Client{Timeout: webhookTimeout}, Log: d.cfg.Log,
	}
	d.background.Go(func() { hook.Run(ctx) })
}

// judged is told of every verdict on a finished run, once.
func (d *Daemon) judged(v *wire.Verdict) {
	if d.command != nil {
		d.command.Judged(v)
	}
	d.outward.Verdict(context.Background(), v)
}

// raised is told of every alert of a run that goes on.
func (d *Daemon) raised(a alert.Alert) {
	if d.command != nil {
		d.command.Raised(a)
	}
	d.outward.Alert(context.Background(), a)
}

// server is the URL at which others reach the API.
func (d *Daemon) server() string {
	if d.cfg.ExternalURL != "" {
		return d.cfg.ExternalURL
	}
	scheme := "http"
	if d.tls != nil {
		scheme = "https"
	}
	return scheme + "://" + d.addrs.HTTP
}

// alertMetrics writes what the watch knows of runs.
func (d *Daemon) alertMetrics(w io.Writer) {
	if d.watcher == nil {
		return
	}
	d.watcher.WriteMetrics(w)
	fmt.Fprintf(w, "plimsoll_alerts_firing %d\nplimsoll_alerts_waiting %d\nplimsoll_alerts_given_up_total %d\n",
		len(d.watcher.Book().Firing()), len(d.watcher.Book().Waiting()), d.watcher.Book().GivenUp())
}

package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// Form is how alerts are written for a webhook.
type Form string

// Forms of a webhook's body.
const (
	Alertmanager Form = "alertmanager" // the array of Alertmanager's API v2
	JSON         Form = "json"         // one object for each change, with a text to show
)

// Webhook posts the notices of a book until each has been taken: after a refusal
// or a silence it tries again, ever more rarely, and goes on where it was after a
// restart.
type Webhook struct {
	URL    string
	Form   Form
	Server string // base URL of this server, for links; empty leaves them out
	Book   *Book
	Client *http.Client
	Log    *slog.Logger
}

// Times of a webhook: how long it waits after a failure, at first and at most,
// and how often an Alertmanager is told what still fires, which it forgets
// otherwise.
const (
	firstRetry  = time.Second
	longestWait = time.Minute
	remindEvery = time.Minute
)

// Run delivers until ctx ends.
func (w *Webhook) Run(ctx context.Context) {
	wait := firstRetry
	remind := time.NewTicker(remindEvery)
	defer remind.Stop()
	for {
		err := w.deliver(ctx)
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("alerts were not delivered; they are kept", "waiting", len(w.Book.Waiting()), "again_in", wait, "error", err)
			again = time.After(wait)
			wait = min(2*wait, longestWait)
		} else {
			wait = firstRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-w.Book.Changed():
			if again != nil { // not sooner because more is waiting
				select {
				case <-ctx.Done():
					return
				case <-again:
				}
			}
		case <-remind.C:
			if again == nil && w.Form == Alertmanager {
				if err := w.remind(ctx); err != nil && ctx.Err() == nil {
					w.Log.Warn("what fires was not repeated", "error", err)
				}
			}
		}
	}
}

// deliver posts what waits, oldest first.
func (w *Webhook) deliver(ctx context.Context) error {
	for {
		waiting := w.Book.Waiting()
		if len(waiting) == 0 {
			return nil
		}
		n := 1
		var body any = w.object(&waiting[0].Alert)
		if w.Form == Alertmanager {
			n = len(waiting)
			alerts := make([]posted, n)
			for i := range waiting {
				alerts[i] = w.posted(&waiting[i].Alert)
			}
			body = alerts
		}
		if err := w.post(ctx, body); err != nil {
			return err
		}
		if err := w.Book.Delivered(waiting[n-1].Number); err != nil {
			return err
		}
	}
}

// remind posts what fires.
func (w *Webhook) remind(ctx context.Context) error {
	firing := w.Book.Firing()
	if len(firing) == 0 {
		return nil
	}
	alerts := make([]posted, len(firing))
	for i := range firing {
		alerts[i] = w.posted(&firing[i])
	}
	return w.post(ctx, alerts)
}

// posted is an alert as Alertmanager's API v2 takes it.
type posted struct {
	Labels       Labels            `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       *time.Time        `json:"endsAt,omitempty"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

func (w *Webhook) posted(a *Alert) posted {
	p := posted{Labels: a.Labels, StartsAt: a.StartsAt, Annotations: map[string]string{
		"summary": a.Summary, "description": a.Description, "run_id": a.RunID,
	}}
	if a.Step != "" {
		p.Annotations["step"] = a.Step
	}
	if link := w.link(a.RunID); link != "" {
		p.Annotations["run_url"], p.GeneratorURL = link, link
	}
	if !a.Firing() {
		p.EndsAt = &a.EndsAt
	}
	return p
}

// object is an alert as a plain receiver takes it.
type object struct {
	Status string `json:"status"` // firing or resolved
	Text   string `json:"text"`   // for people
	Alert
	RunURL string     `json:"run_url,omitempty"`
	EndsAt *time.Time `json:"ends_at,omitempty"` // hides the one of Alert
}

func (w *Webhook) object(a *Alert) object {
	o := object{Status: "firing", Alert: *a, RunURL: w.link(a.RunID)}
	o.Text = a.Summary + ". " + a.Description
	if !a.Firing() {
		o.Status, o.EndsAt = "resolved", &a.EndsAt
		o.Text = "Resolved: " + a.Summary + "."
	}
	return o
}

func (w *Webhook) link(run string) string {
	if w.Server == "" {
		return ""
	}
	return w.Server + "/api/v1/runs/" + url.PathEscape(run) + "/verdict"
}

// longestAnswer is how much of a refusal is read.
const longestAnswer = 1 << 10

func (w *Webhook) post(ctx context.Context, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode alerts: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("post alerts: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.Client.Do(req)
	if err != nil {
		return fmt.Errorf("post alerts: %w", hideCredentials(err))
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, longestAnswer))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("post alerts: %s: %q", res.Status, text)
	}
	return nil
}

// hideCredentials takes the URL out of an error: it may hold a password or a
// secret path.
func hideCredentials(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // Client.Do documents the type
		return e.Err
	}
	return err
}

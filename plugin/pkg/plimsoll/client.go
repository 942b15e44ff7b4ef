// Package plimsoll asks a Plimsoll server over HTTP. Answers are read up to a
// bound; refusals become a typed error with the server's hint. It keeps
// nothing: the server remembers what it has computed.
package plimsoll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Client asks one server. It may be used concurrently.
type Client struct {
	base  *url.URL
	http  *http.Client
	limit int64 // bytes of one answer
}

// New returns a client of the server at address, which reads at most limit
// bytes of an answer.
func New(address string, h *http.Client, limit int64) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil {
		return nil, fmt.Errorf("read URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("read URL: %q is not like http://127.0.0.1:4319", address)
	}
	return &Client{base: base, http: h, limit: limit}, nil
}

// Error is a refusal by the server.
type Error struct {
	Status int // of HTTP
	Body   wire.Error
}

func (e *Error) Error() string {
	if e.Body.Hint != "" {
		return e.Body.Error + " (" + e.Body.Hint + ")"
	}
	return e.Body.Error
}

// ErrTooLarge says that an answer was longer than the client reads.
var ErrTooLarge = errors.New("answer is too large: raise the limit in the data source, or ask for less")

// ErrNotPlimsoll says that something else answered.
var ErrNotPlimsoll = errors.New("something answers there, but not Plimsoll: give the address of its HTTP API, by default port 4319")

// Verdict judges a run.
func (c *Client) Verdict(ctx context.Context, run string, q url.Values) (*wire.Verdict, error) {
	return ask[wire.Verdict](ctx, c, of(run, "verdict"), q)
}

// Series returns columns over time.
func (c *Client) Series(ctx context.Context, run string, q url.Values) (*wire.SeriesAnswer, error) {
	return ask[wire.SeriesAnswer](ctx, c, of(run, "series"), q)
}

// Spectrum returns the percentiles of a run.
func (c *Client) Spectrum(ctx context.Context, run string, q url.Values) (*wire.Spectrum, error) {
	return ask[wire.Spectrum](ctx, c, of(run, "spectrum"), q)
}

// Heatmap returns counts over time and response time.
func (c *Client) Heatmap(ctx context.Context, run string, q url.Values) (*wire.Heatmap, error) {
	return ask[wire.Heatmap](ctx, c, of(run, "heatmap"), q)
}

// Goodput returns the goodput that each deadline would have given.
func (c *Client) Goodput(ctx context.Context, run string, q url.Values) (*wire.GoodputCurve, error) {
	return ask[wire.GoodputCurve](ctx, c, of(run, "goodput"), q)
}

// Compare sets two runs side by side.
func (c *Client) Compare(ctx context.Context, before, after string, q url.Values) (*wire.Comparison, error) {
	with := url.Values{"runs": {before, after}}
	maps.Copy(with, q)
	return ask[wire.Comparison](ctx, c, "/api/v1/compare", with)
}

// Runs returns a page of runs, newest first.
func (c *Client) Runs(ctx context.Context, q url.Values) (*wire.RunList, error) {
	return ask[wire.RunList](ctx, c, "/api/v1/runs", q)
}

// Run returns what is known of a run without judging it.
func (c *Client) Run(ctx context.Context, run string) (*wire.RunItem, error) {
	return ask[wire.RunItem](ctx, c, "/api/v1/runs/"+url.PathEscape(run), nil)
}

func of(run, what string) string { return "/api/v1/runs/" + url.PathEscape(run) + "/" + what }

// ask gets an answer and decodes it.
func ask[T any](ctx context.Context, c *Client, path string, q url.Values) (*T, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask server: %w", err)
	}
	req.URL.RawQuery = q.Encode()
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask server: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read; there is nothing to lose
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.limit+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if int64(len(body)) > c.limit {
		return nil, fmt.Errorf("read answer of over %d MiB: %w", c.limit>>20, ErrTooLarge)
	}
	if resp.StatusCode != http.StatusOK {
		refusal := &Error{Status: resp.StatusCode}
		if json.Unmarshal(body, &refusal.Body) != nil || refusal.Body.Error == "" {
			if resp.StatusCode < http.StatusInternalServerError && resp.StatusCode != http.StatusUnauthorized &&
				resp.StatusCode != http.StatusForbidden {
				return nil, ErrNotPlimsoll
			}
			refusal.Body.Error = "the server answered " + resp.Status
		}
		return nil, refusal
	}
	out := new(T)
	if err := json.Unmarshal(body, out); err != nil {
		if !strings.Contains(resp.Header.Get("Content-Type"), "json") {
			return nil, ErrNotPlimsoll
		}
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	return out, nil
}

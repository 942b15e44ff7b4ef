// Package client calls the HTTP API of a Plimsoll server.
//
// Answers are bounded, errors of the server keep their code and hint, and a
// server that cannot be reached is named together with what to do about it.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 256 << 20

// Client calls one server.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// Error is a refusal by the server.
type Error struct {
	Status int
	Body   wire.Error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("server answered %d: %s", e.Status, e.Body.Error)
	if e.Body.Hint != "" {
		text += " (" + e.Body.Hint + ")"
	}
	return text
}

// New makes a client of the server at an http or https URL.
func New(server, token string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("server %q is not a URL like http://127.0.0.1:4319", server)
	}
	return &Client{
		base: strings.TrimRight(u.String(), "/"), token: token,
		http: &http.Client{Timeout: 10 * time.Minute},
	}, nil
}

// Runs lists runs.
func (c *Client) Runs(ctx context.Context, q url.Values) (wire.RunList, error) {
	var out wire.RunList
	_, err := c.call(ctx, http.MethodGet, "/api/v1/runs", q, &out)
	return out, err
}

// Run returns one run of the list.
func (c *Client) Run(ctx context.Context, run string) (wire.RunItem, error) {
	var out wire.RunItem
	_, err := c.call(ctx, http.MethodGet, runPath(run), nil, &out)
	return out, err
}

// Verdict returns the verdict on a run, decoded and as it was sent.
func (c *Client) Verdict(ctx context.Context, run string, q url.Values) (*wire.Verdict, []byte, error) {
	var v wire.Verdict
	body, err := c.call(ctx, http.MethodGet, runPath(run)+"/verdict", q, &v)
	if err != nil {
		return nil, nil, err
	}
	if v.Schema != wire.Schema {
		return nil, nil, fmt.Errorf("server speaks %q, this program %q", v.Schema, wire.Schema)
	}
	return &v, body, nil
}

// Compare returns what changed from one run to another, decoded and as it was sent.
func (c *Client) Compare(ctx context.Context, before, after string, q url.Values) (*wire.Comparison, []byte, error) {
	with := url.Values{"runs": {before, after}}
	maps.Copy(with, q)
	var out wire.Comparison
	body, err := c.call(ctx, http.MethodGet, "/api/v1/compare", with, &out)
	return &out, body, err
}

// Declare declares a run, and reports whether that was new.
func (c *Client) Declare(ctx context.Context, d *wire.Declaration) (created bool, item wire.RunItem, err error) {
	body, err := json.Marshal(d)
	if err != nil {
		return false, item, fmt.Errorf("encode declaration: %w", err)
	}
	status, answer, err := c.send(ctx, http.MethodPost, "/api/v1/runs", nil, body)
	if err != nil {
		return false, item, err
	}
	return status == http.StatusCreated, item, decode(answer, &item)
}

// Finish finishes a run and returns it with its outcome.
func (c *Client) Finish(ctx context.Context, run string) (wire.RunItem, error) {
	var out wire.RunItem
	_, err := c.call(ctx, http.MethodPost, runPath(run)+"/finish", nil, &out)
	return out, err
}

// Delete removes a run and returns its id.
func (c *Client) Delete(ctx context.Context, run string) (string, error) {
	var out wire.Deleted
	_, err := c.call(ctx, http.MethodDelete, runPath(run), nil, &out)
	return out.ID, err
}

// Import sends a file, of any length and as slowly as it comes.
func (c *Client) Import(ctx context.Context, q url.Values, file io.Reader) (wire.Imported, error) {
	var out wire.Imported
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1/import?"+q.Encode(), io.NopCloser(file))
	if err != nil {
		return out, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	unhurried := *c.http
	unhurried.Timeout = 0
	_, answer, err := c.do(&unhurried, req)
	if err != nil {
		return out, err
	}
	return out, decode(answer, &out)
}

func runPath(run string) string { return "/api/v1/runs/" + url.PathEscape(run) }

func (c *Client) call(ctx context.Context, method, path string, q url.Values, out any) ([]byte, error) {
	_, answer, err := c.send(ctx, method, path, q, nil)
	if err != nil {
		return nil, err
	}
	return answer, decode(answer, out)
}

func decode(answer []byte, out any) error {
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read answer: %w (is this a Plimsoll server?)", err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, q url.Values, body []byte) (int, []byte, error) {
	target := c.base + path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.do(c.http, req)
}

// do makes a request and reads the answer.
func (c *Client) do(over *http.Client, req *http.Request) (int, []byte, error) {
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := over.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the URL is in the message already
		}
		return 0, nil, fmt.Errorf("reach %s: %w (is 'plimsoll serve' running there? --server or PLIMSOLL_SERVER names another)", c.base, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("read answer: %w", err)
	case len(answer) > maxAnswer:
		return 0, nil, fmt.Errorf("read answer: longer than %d bytes", maxAnswer)
	case res.StatusCode/100 == 2:
		return res.StatusCode, answer, nil
	}
	e := &Error{Status: res.StatusCode}
	if err := json.Unmarshal(answer, &e.Body); err != nil || e.Body.Error == "" {
		e.Body = wire.Error{Error: http.StatusText(res.StatusCode), Hint: "the answer is not one of a Plimsoll server"}
	}
	return 0, nil, e
}

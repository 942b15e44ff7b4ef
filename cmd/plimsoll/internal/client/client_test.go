package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/client"
)

// answer starts a server that answers every call the same and notes the last.
func answer(t *testing.T, status int, body string) (*client.Client, *string) {
	t.Helper()
	var last string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"))
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL+"/", "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	return c, &last
}

func TestCalls(t *testing.T) {
	t.Parallel()
	check := func(got *string, want string) {
		t.Helper()
		if *got != want+" Bearer s3cret" {
			t.Errorf("call = %q, want %q with the token", *got, want)
		}
	}
	c, last := answer(t, 200, `{"schema":"plimsoll.verdict/v1","id":"x"}`)
	if _, _, err := c.Verdict(t.Context(), "a/b ?", url.Values{"objective": {"p99<1s"}}); err != nil {
		t.Error(err)
	}
	check(last, "GET /api/v1/runs/a%2Fb%20%3F/verdict?objective=p99%3C1s")
	if _, err := c.Runs(t.Context(), url.Values{"limit": {"2"}}); err != nil {
		t.Error(err)
	}
	check(last, "GET /api/v1/runs?limit=2")
	if _, err := c.Finish(t.Context(), "latest:orders"); err != nil {
		t.Error(err)
	}
	check(last, "POST /api/v1/runs/latest:orders/finish")
	if id, err := c.Delete(t.Context(), "x"); err != nil || id != "x" {
		t.Errorf("Delete = %q, %v", id, err)
	}
	check(last, "DELETE /api/v1/runs/x")
	if created, _, err := c.Declare(t.Context(), &wire.Declaration{ID: "x"}); err != nil || created {
		t.Errorf("Declare = %v, %v", created, err)
	}
	check(last, "POST /api/v1/runs")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	check := func(c *client.Client, wants ...string) {
		t.Helper()
		_, _, err := c.Verdict(t.Context(), "x", nil)
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("err = %v, want %q", err, want)
			}
		}
	}
	c, _ := answer(t, 404, `{"error":"no such run","code":"run_not_found","hint":"list them"}`)
	check(c, "404", "no such run", "list them")
	_, _, err := c.Verdict(t.Context(), "x", nil)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Body.Code != "run_not_found" {
		t.Errorf("err = %#v", err)
	}
	c, _ = answer(t, 502, "<html>")
	check(c, "502", "not one of a Plimsoll server")
	c, _ = answer(t, 200, "<html>")
	check(c, "is this a Plimsoll server?")
	c, _ = answer(t, 200, `{"schema":"plimsoll.verdict/v2"}`)
	check(c, "plimsoll.verdict/v2")
	c, err = client.New("http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	check(c, "http://127.0.0.1:1", "plimsoll serve")
	for _, bad := range []string{"", "127.0.0.1:4319", "ftp://x", "http://", "http://a:b@x", "http://x/?q", "http://x#f"} {
		if _, err := client.New(bad, ""); err == nil {
			t.Errorf("New(%q) took it", bad)
		}
	}
}

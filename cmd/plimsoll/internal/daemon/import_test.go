package daemon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// attack is a part of an attack at 100/s, as Vegeta writes it.
func attack(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%d,200,2000000,0,12,,,orders,%d,GET,http://a/,\n", 1796046100000000000+int64(i)*10_000_000, i)
	}
	return b.String()
}

// state is that of a run, empty when there is none.
func state(t *testing.T, base, run string) string {
	t.Helper()
	status, body := call(t, http.MethodGet, base+"/api/v1/runs/"+run, "")
	var item wire.RunItem
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(body), &item); err != nil {
			t.Fatal(err)
		}
	}
	return item.State
}

// A file is read while it comes, and is finished when it has come whole.
func TestImportFollowsABody(t *testing.T) {
	t.Parallel()
	d := start(t, config(t))
	defer shutdown(t, d)
	base := "http://" + d.Addrs().HTTP
	for _, broken := range []bool{false, true} {
		run := fmt.Sprintf("run-%v", broken)
		r, w := io.Pipe()
		answered := make(chan error, 1)
		var out wire.Imported
		go func() {
			res, err := http.Post(base+"/api/v1/import?live=1&run="+run, "application/octet-stream", r)
			if err == nil {
				err = json.NewDecoder(res.Body).Decode(&out)
				res.Body.Close()
			}
			answered <- err
		}()
		if _, err := io.WriteString(w, attack(0, 5000)); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); state(t, base, run) != wire.Live; {
			if time.Now().After(deadline) {
				t.Fatal("no run while the body is open")
			}
			time.Sleep(5 * time.Millisecond)
		}
		if broken {
			w.CloseWithError(errors.New("the generator has died"))
			if err := <-answered; err == nil {
				t.Error("an answer to a body that broke off")
			}
			if s := state(t, base, run); s != wire.Live {
				t.Errorf("broken off: %s", s)
			}
			continue
		}
		w.Close()
		if err := <-answered; err != nil || out.Rows != 5000 || !out.Finished || out.Grade != "B" || out.Run != run {
			t.Errorf("%+v, %v", out, err)
		}
		if s := state(t, base, run); s != wire.Finished {
			t.Errorf("at the end: %s", s)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Token = "secret"
	d := start(t, cfg)
	defer shutdown(t, d)
	base := "http://" + d.Addrs().HTTP + "/api/v1/import"
	if status, body := call(t, http.MethodPost, base, attack(0, 10)); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d %s", status, body)
	}
	authorised := func(query, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+query, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	for _, c := range []struct {
		query, body string
		status      int
		code        string
	}{
		{"", attack(0, 10), http.StatusOK, `"rows":10`},
		{"?nonsense=1", attack(0, 10), http.StatusBadRequest, "bad_parameter"},
		{"?schedule=nonsense", attack(0, 10), http.StatusBadRequest, "bad_parameter"},
		{"?run=latest", attack(0, 10), http.StatusBadRequest, "is reserved"},
		{"", "nonsense", http.StatusUnprocessableEntity, "unreadable"},
		{"?run=a&deadline_s=1", attack(0, 10), http.StatusOK, `"rows":10`},
		{"?run=a&deadline_s=2", attack(0, 10), http.StatusConflict, "declared_otherwise"},
	} {
		if status, body := authorised(c.query, c.body); status != c.status || !strings.Contains(body, c.code) {
			t.Errorf("%s: %d %s", c.query, status, body)
		}
	}
}

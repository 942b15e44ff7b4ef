package plugin_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

func health(t *testing.T, settings *backend.DataSourceInstanceSettings) *backend.CheckHealthResult {
	t.Helper()
	got, err := client(t).CheckHealth(context.Background(), &backend.CheckHealthRequest{
		PluginContext: backend.PluginContext{Namespace: "default", PluginID: "plimsoll-loadtest-datasource", DataSourceInstanceSettings: settings},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestHealthSaysWhatToFix(t *testing.T) {
	t.Parallel()
	check := func(name string, settings *backend.DataSourceInstanceSettings, status backend.HealthStatus, want string) {
		t.Helper()
		got := health(t, settings)
		if got.Status != status || !strings.Contains(got.Message, want) {
			t.Errorf("%s: %s %q, want %s with %q", name, got.Status, got.Message, status, want)
		}
	}
	s := newServer(t)
	check("well", s.settings(""), backend.HealthStatusOk, "Newest run")
	s.instead["runs"] = wire.RunList{}
	check("empty", s.settings(""), backend.HealthStatusOk, "no runs yet")
	check("no URL", &backend.DataSourceInstanceSettings{ID: nextID.Add(1), UID: "p", Updated: time.Unix(1, 0)}, backend.HealthStatusError, "URL is missing")
	check("no scheme", &backend.DataSourceInstanceSettings{ID: nextID.Add(1), UID: "p", URL: "localhost:4319", Updated: time.Unix(1, 0)}, backend.HealthStatusError, "is not like http://")
	check("bounds", s.settings(`{"maxRows":-1,"maxAnswerMiB":9999}`), backend.HealthStatusError, "most rows: -1")
	locked := newServer(t)
	locked.status = http.StatusUnauthorized
	check("no token", locked.settings(""), backend.HealthStatusError, "under Token")
	page := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(page.Close)
	check("another server", &backend.DataSourceInstanceSettings{ID: nextID.Add(1), UID: "p", URL: page.URL, Updated: time.Unix(1, 0)}, backend.HealthStatusError, "not Plimsoll")
	gone := newServer(t)
	settings := gone.settings("")
	gone.Close()
	check("nobody", settings, backend.HealthStatusError, "plimsoll serve")
}

func TestTokenIsSent(t *testing.T) {
	t.Parallel()
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(wire.RunList{})
	}))
	t.Cleanup(s.Close)
	health(t, &backend.DataSourceInstanceSettings{
		ID: nextID.Add(1), UID: "p", URL: s.URL, Updated: time.Unix(1, 0), DecryptedSecureJSONData: map[string]string{"token": "secret"},
	})
	if got != "Bearer secret" {
		t.Errorf("Authorization = %q", got)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.verdict(t, func(v *wire.Verdict) { v.Run.Queues = []wire.Queue{{Name: "db", Kind: "pool_pending", Unit: "1"}} })
	c := client(t)
	call := func(path string) (int, string) {
		t.Helper()
		var status int
		var body string
		err := c.CallResource(context.Background(), &backend.CallResourceRequest{
			PluginContext: backend.PluginContext{Namespace: "default", PluginID: "plimsoll-loadtest-datasource", DataSourceInstanceSettings: s.settings("")},
			Path:          strings.SplitN(path, "?", 2)[0], URL: path, Method: http.MethodGet,
		}, backend.CallResourceResponseSenderFunc(func(r *backend.CallResourceResponse) error {
			status, body = r.Status, string(r.Body)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		return status, body
	}
	for path, want := range map[string]string{
		"runs": `"value":"latest"`, "names": `"value":"latest:orders"`, "scenarios?run=x": `"value":"orders"`,
		"steps?run=x": `"label":"120/s"`, "queues": `"value":"queue:db"`, "sources": `"value":"gen-1"`,
	} {
		if status, body := call(path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", path, status, body, want)
		}
	}
	s.mu.Lock()
	s.status = http.StatusServiceUnavailable
	s.mu.Unlock()
	if status, body := call("runs"); status != http.StatusServiceUnavailable || !strings.Contains(body, "refused") {
		t.Errorf("a server that refuses: %d %s", status, body)
	}
}

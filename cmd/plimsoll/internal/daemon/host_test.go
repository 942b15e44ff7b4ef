package daemon_test

import (
	"net/http"
	"testing"
)

// TestForeignNames calls the API by names that a stranger's page could have made
// to point here, and by those of this machine.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.ExternalURL = "https://Plimsoll.example/"
	d := start(t, cfg)
	defer shutdown(t, d)
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "localhost:4319": 200, "app.localhost": 200, "127.0.0.1:1": 200, "[::1]:4319": 200,
		"plimsoll.example": 200, "evil.example": 403, "evil.example:4319": 403, "localhost.evil.example": 403, "plimsoll": 403,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Addrs().HTTP+"/api/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("host %q: %d, want %d", host, res.StatusCode, want)
		}
	}
}

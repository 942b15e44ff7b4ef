package daemon_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/daemon"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
	"github.com/plimsoll/plimsoll/collector/journal/pebble"
)

func config(t *testing.T) daemon.Config {
	t.Helper()
	s := settings.Default(func(string) (string, bool) { return "", false })
	s.OTLPGRPCAddr, s.OTLPHTTPAddr, s.HTTPAddr, s.AdminAddr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	s.DataDir = filepath.Join(t.TempDir(), "deep", "data")
	s.MaxAge, s.ShutdownTimeout = 0, cli.Duration(5*time.Second)
	return daemon.Config{Settings: s, Version: "1.2.3", Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

func start(t *testing.T, cfg daemon.Config) *daemon.Daemon {
	t.Helper()
	d, err := daemon.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func shutdown(t *testing.T, d *daemon.Daemon) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := d.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func call(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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

// Every error of the catalogue has its status, and the answers have their parts.
func TestCatalogueBehindAPI(t *testing.T) {
	t.Parallel()
	d := start(t, config(t))
	defer shutdown(t, d)
	base := "http://" + d.Addrs().HTTP
	check := func(method, path, body string, want int, holds string) {
		t.Helper()
		if status, text := call(t, method, base+path, body); status != want || !strings.Contains(text, holds) {
			t.Errorf("%s %s %s = %d %s, want %d with %q", method, path, body, status, text, want, holds)
		}
	}
	check("GET", "/readyz", "", 200, "ready")
	check("GET", "/api/v1/runs/latest", "", 404, "run_not_found")
	check("GET", "/api/v1/runs?cursor=!", "", 400, "bad_parameter")
	check("POST", "/api/v1/runs", `{"id":"latest"}`, 400, "bad_body")
	check("POST", "/api/v1/runs", `{"id":"a","name":"orders"}`, 201, `"id":"a"`)
	check("POST", "/api/v1/runs", `{"id":"a","name":"orders"}`, 200, `"id":"a"`)
	check("POST", "/api/v1/runs", `{"id":"a","name":"other"}`, 409, "declared_otherwise")
	check("POST", "/api/v1/runs", `{"name":"un named"}`, 201, `"id":"un-`)
	check("POST", "/api/v1/runs/a/marks", `{"name":"deploy"}`, 200, `"at":"20`)
	check("POST", "/api/v1/runs/a/marks", `{"name":" "}`, 400, "bad_body")
	check("GET", "/api/v1/runs/latest:orders/verdict", "", 200, `"outcome":"inconclusive"`)
	for _, view := range []string{"series", "spectrum", "heatmap", "littleslaw", "goodput"} {
		check("GET", "/api/v1/runs/a/"+view, "", 200, "{")
	}
	check("POST", "/api/v1/runs/a/finish", "", 200, `"state":"finished"`)
	check("GET", "/api/v1/runs/a/events", "", 200, "event: end")
	check("GET", "/metrics", "", 200, `plimsoll_runs{state="finished"} 1`)
	check("GET", "/metrics", "", 200, `plimsoll_otlp_rows_total 0`)
	check("DELETE", "/api/v1/runs/a", "", 200, `"id":"a"`)
	check("GET", "/api/v1/runs/a", "", 404, "run_not_found")
	if status, text := call(t, "GET", "http://"+d.Addrs().Admin+"/debug/pprof/cmdline", ""); status != 200 {
		t.Errorf("profiles = %d %s", status, text)
	}
	if status, _ := call(t, "GET", base+"/debug/pprof/", ""); status != 404 {
		t.Errorf("profiles on the API = %d", status)
	}
}

// A stream does not hold a stop up, and sees the change that was made before.
func TestShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	d := start(t, config(t))
	base := "http://" + d.Addrs().HTTP
	call(t, "POST", base+"/api/v1/runs", `{"id":"a"}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/runs/a/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	next := func(prefix string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), prefix) {
				return
			}
		}
		t.Fatalf("the stream ended before %q", prefix)
	}
	next("event: revision")
	call(t, "POST", base+"/api/v1/runs/a/marks", `{"name":"deploy"}`)
	next("event: revision")
	begin := time.Now()
	shutdown(t, d)
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("stopping took %v", took)
	}
}

// What was kept is there in the next process; the directory is the owner's alone.
func TestRestart(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	d := start(t, cfg)
	call(t, "POST", "http://"+d.Addrs().HTTP+"/api/v1/runs", `{"id":"a"}`)
	if _, err := daemon.Start(cfg); !errors.Is(err, pebble.ErrInUse) {
		t.Errorf("second server on one directory: %v", err)
	}
	shutdown(t, d)
	info, err := os.Stat(cfg.DataDir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v, %v", info.Mode(), err)
	}
	d = start(t, cfg)
	defer shutdown(t, d)
	if status, _ := call(t, "GET", "http://"+d.Addrs().HTTP+"/api/v1/runs/a", ""); status != 200 {
		t.Errorf("run after a restart = %d", status)
	}
}

// A start that fails half way leaves nothing behind.
func TestFailedStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := config(t)
	for name, change := range map[string]func(*daemon.Config){
		"listen for otlp-grpc": func(c *daemon.Config) { c.OTLPGRPCAddr = taken.Addr().String() },
		"listen for otlp-http": func(c *daemon.Config) { c.OTLPHTTPAddr = taken.Addr().String() },
		"listen for http":      func(c *daemon.Config) { c.HTTPAddr = taken.Addr().String() },
		"listen for admin":     func(c *daemon.Config) { c.AdminAddr = taken.Addr().String() },
		"read mapping":         func(c *daemon.Config) { c.Mapping = "/nowhere/mapping.yaml" },
		"load TLS certificate": func(c *daemon.Config) { c.TLSCert, c.TLSKey = "/nowhere/crt", "/nowhere/key" },
	} {
		bad := cfg
		change(&bad)
		if _, err := daemon.Start(bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Start = %v, want %q", err, name)
		}
	}
	shutdown(t, start(t, cfg)) // the directory is free
}

// With a certificate and a token nothing is served in the open.
func TestTLSAndToken(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	pool := certificate(t, &cfg)
	cfg.Token = "s3cret"
	d := start(t, cfg)
	defer shutdown(t, d)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}}
	defer c.CloseIdleConnections()
	for _, to := range []struct {
		method, url string
		open        int // without a token
		with        int
	}{
		{"GET", "https://" + d.Addrs().HTTP + "/api/v1/runs", 401, 200},
		{"GET", "https://" + d.Addrs().HTTP + "/readyz", 200, 200},
		{"POST", "https://" + d.Addrs().OTLPHTTP + "/v1/traces", 401, 200},
	} {
		for token, want := range map[string]int{"": to.open, "Bearer s3cret": to.with} {
			req, err := http.NewRequestWithContext(t.Context(), to.method, to.url, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			if token != "" {
				req.Header.Set("Authorization", token)
			}
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s with %q = %d, want %d", to.url, token, res.StatusCode, want)
			}
		}
	}
	if status, _ := call(t, "GET", "http://"+d.Addrs().HTTP+"/readyz", ""); status != 400 {
		t.Errorf("plain text on a TLS port = %d", status)
	}
}

// certificate makes one for loopback and configures it.
func certificate(t *testing.T, cfg *daemon.Config) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cfg.TLSCert, cfg.TLSKey = filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for file, data := range map[string][]byte{cfg.TLSCert: crt, cfg.TLSKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(crt)
	return pool
}

// Connections beyond the bound are closed and counted.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.MaxConnections = 1
	d := start(t, cfg)
	defer shutdown(t, d)
	held, err := net.Dial("tcp", d.Addrs().HTTP)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(held, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(make([]byte, 1)); err != nil { // it is served, so it is counted
		t.Fatal(err)
	}
	over, err := net.Dial("tcp", d.Addrs().HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	if err := over.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := over.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("connection beyond the bound: %v, want it closed", err)
	}
	held.Close()
	for range 100 {
		res, err := http.Get("http://" + d.Addrs().HTTP + "/metrics")
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !strings.Contains(string(text), "plimsoll_http_connections_refused_total") {
			t.Errorf("metrics = %v %s", err, text)
		}
		return
	}
	t.Error("a connection that was closed did not make room")
}

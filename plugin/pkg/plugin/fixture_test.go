package plugin_test

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/experimental/datasourcetest"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/plugin/pkg/plugin"
)

var update = flag.Bool("update", false, "write the golden files anew")

// answers are the golden answers of the server itself, by path.
const answers = "../../../analysis/api/testdata"

// server stands in for a Plimsoll server. It answers with the server's own golden
// documents, or with what a test puts in their place.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	instead map[string]any // by the last part of the path
	status  int
	asked   []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{instead: map[string]any{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		if s.status != 0 {
			w.WriteHeader(s.status)
			_ = json.NewEncoder(w).Encode(wire.Error{Error: "refused", Code: "test", Hint: "try otherwise"})
			return
		}
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if v, ok := s.instead[name]; ok {
			if of, ok := v.(func(r *http.Request) any); ok {
				v = of(r)
			}
			if _, ok := v.(cutShort); ok {
				_, _ = w.Write([]byte(`{"schema":"plim`))
				return
			}
			if v == nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(w).Encode(v)
			return
		}
		body, err := os.ReadFile(filepath.Join(answers, filepath.Base(name)+".json"))
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s
}

// verdict is the golden verdict, changed by a test.
func (s *server) verdict(t *testing.T, change func(v *wire.Verdict)) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(answers, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	v := &wire.Verdict{}
	if err := json.Unmarshal(body, v); err != nil {
		t.Fatal(err)
	}
	change(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead["verdict"] = v
}

// settings are those of a data source of the server.
func (s *server) settings(more string) *backend.DataSourceInstanceSettings {
	if more == "" {
		more = "{}"
	}
	return &backend.DataSourceInstanceSettings{ID: nextID.Add(1), UID: "plimsoll", URL: s.URL, JSONData: []byte(more), Updated: time.Unix(1, 0)}
}

// served is the plugin, started once: the SDK counts in the registry of the process.
var served = sync.OnceValues(func() (*datasourcetest.TestPluginClient, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	p, err := datasourcetest.Manage(plugin.NewDatasource, datasourcetest.ManageOpts{Address: address})
	return p.Client, err
})

// nextID numbers data sources, so that each test has one of its own.
var nextID atomic.Int64

// client speaks to the plugin over gRPC.
func client(t *testing.T) *datasourcetest.TestPluginClient {
	t.Helper()
	c, err := served()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask puts queries, given as JSON by their reference, to a data source.
func ask(t *testing.T, settings *backend.DataSourceInstanceSettings, queries map[string]string) backend.Responses {
	t.Helper()
	req := &backend.QueryDataRequest{PluginContext: backend.PluginContext{
		Namespace: "default", PluginID: "plimsoll-loadtest-datasource", DataSourceInstanceSettings: settings,
	}}
	noon := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	for ref, text := range queries {
		req.Queries = append(req.Queries, backend.DataQuery{
			RefID: ref, JSON: []byte(text), MaxDataPoints: 500, TimeRange: backend.TimeRange{From: noon, To: noon.Add(5 * time.Minute)},
		})
	}
	got, err := client(t).QueryData(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return got.Responses
}

// one asks a single query that must succeed.
func (s *server) one(t *testing.T, query string) backend.DataResponse {
	t.Helper()
	got := ask(t, s.settings(""), map[string]string{"A": query})["A"]
	if got.Error != nil {
		t.Fatalf("%s: %v", query, got.Error)
	}
	return got
}

package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldens are the calls whose answers are kept. Each answer is compared with
// its file and held against the schema that the OpenAPI document names.
func goldens() []struct{ name, method, path, body, schema string } {
	return []struct{ name, method, path, body, schema string }{
		{"runs", "GET", "/api/v1/runs?limit=5", "", "RunList"},
		{"run", "GET", "/api/v1/runs/orders-41", "", "RunItem"},
		{"verdict", "GET", "/api/v1/runs/latest/verdict", "", "Verdict"},
		{"littleslaw", "GET", "/api/v1/runs/orders-42/littleslaw", "", "LittleTable"},
		{"series", "GET", "/api/v1/runs/orders-42/series?names=offered,queue:db", "", "SeriesAnswer"},
		{"spectrum", "GET", "/api/v1/runs/orders-42/spectrum", "", "Spectrum"},
		{"heatmap", "GET", "/api/v1/runs/orders-42/heatmap", "", "Heatmap"},
		{"goodput", "GET", "/api/v1/runs/orders-42/goodput", "", "GoodputCurve"},
		{"compare", "GET", "/api/v1/compare?runs=orders-41,orders-42", "", "Comparison"},
		{"error_compare", "GET", "/api/v1/compare?runs=orders-41", "", "Error"},
		{"declare", "POST", "/api/v1/runs", declaration, "RunItem"},
		{"finish", "POST", "/api/v1/runs/orders-42/finish", "", "RunItem"},
		{"mark", "POST", "/api/v1/runs/orders-42/marks", `{"at":"2026-11-30T11:00:30+01:00","name":"deploy"}`, "Mark"},
		{"delete", "DELETE", "/api/v1/runs/orders-41", "", "Deleted"},
		{"error_not_found", "GET", "/api/v1/runs/nope/verdict", "", "Error"},
		{"error_parameter", "GET", "/api/v1/runs/latest/verdict?deadline_s=fast", "", "Error"},
		{"error_unknown_parameter", "GET", "/api/v1/runs/latest/verdict?dedline_s=2", "", "Error"},
		{"error_declaration", "POST", "/api/v1/runs", `{"id":"latest","steps":[{"rate_per_s":0,"duration_s":-1}]}`, "Error"},
	}
}

const declaration = `{"id":"orders-43","name":"orders","deadline_s":2,"arrival":{"model":"open","process":"constant"},
	"steps":[{"name":"peak","rate_per_s":120,"duration_s":60}],"objectives":[{"step":"peak","quantile":0.99,"max_s":0.3}]}`

func TestGolden(t *testing.T) {
	t.Parallel()
	doc := loadDocument(t)
	for _, g := range goldens() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			_, header, body := newFixture(t, nil).do(t, g.method, g.path, g.body)
			if got := header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type = %q", got)
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, []byte(body), "", "  "); err != nil {
				t.Fatalf("answer is not JSON: %v\n%s", err, body)
			}
			file := filepath.Join("testdata", g.name+".json")
			if *update {
				if err := os.WriteFile(file, pretty.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
				t.Errorf("answer differs from %s (-want +got):\n%s", file, diff)
			}
			for _, problem := range doc.check(g.schema, []byte(body)) {
				t.Errorf("answer does not fit schema %s: %s", g.schema, problem)
			}
		})
	}
}

// The validator has to be able to say no.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	doc := loadDocument(t)
	for _, c := range []struct{ schema, body, want string }{
		{"Mark", `{"at":"2026-11-30T10:00:00Z"}`, "name: is missing"},
		{"Deleted", `{}`, "id: is missing"},
		{"Mark", `{"at":"yesterday","name":"x"}`, "at: is not a date-time"},
		{"Mark", `{"at":"2026-11-30T10:00:00Z","name":"x","extra":1}`, "extra: is not in the schema"},
		{"Event", `{"revision":1.5,"state":"live","outcome":"pass","headline":"","horizon":{"at":null,"assumed":false,"held_by":null}}`, "revision: is not of type"},
		{"Event", `{"revision":1,"state":"gone","outcome":"pass","headline":"","horizon":{"at":null,"assumed":false,"held_by":null}}`, "state: is not one of"},
		{"Estimate", `{"value":null,"lo":null,"hi":null,"confidence":95}`, "confidence: is above"},
		{"SeriesAnswer", `{"time":[],"columns":{"a":["x"]}}`, "columns.a[0]: is not of type"},
	} {
		if got := strings.Join(doc.check(c.schema, []byte(c.body)), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("check(%s, %s) = %q, want %q", c.schema, c.body, got, c.want)
		}
	}
}

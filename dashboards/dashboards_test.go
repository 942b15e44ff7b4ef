// Package dashboards_test holds the dashboards against the data source that they
// ask: kinds of queries, columns, units, variables, places on the grid. A
// dashboard is one file, bundled in the plugin and provisioned alike, so its data
// source is a variable.
package dashboards_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/plugin/pkg/plugin"
)

// sourceType is the id of the data source.
const sourceType = "plimsoll-loadtest-datasource"

type source struct{ Type, UID string }

type target struct {
	RefID      string  `json:"refId"`
	PanelID    int     `json:"panelId"` // whose answer is shown, of the data source that is the dashboard itself
	QueryType  string  `json:"queryType"`
	Datasource *source `json:"datasource"`
	Names      []string
	Clock      string
	Measure    string
	Show       []string
}

type panel struct {
	ID          int
	Type, Title string
	Targets     []target
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
}

type dashboard struct {
	UID, Title, Refresh string
	Panels              []panel
	Templating          struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
	Annotations struct {
		List []struct {
			Name       string
			Datasource *source
			Target     *target
		}
	}
}

// each reads every dashboard.
func each(t *testing.T, fn func(t *testing.T, d *dashboard, text string)) {
	t.Helper()
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d dashboards, %v: want five", len(files), err)
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			d := &dashboard{}
			if err := json.Unmarshal(text, d); err != nil {
				t.Fatal(err)
			}
			if want := "plimsoll-" + strings.TrimSuffix(name, ".json"); d.UID != want {
				t.Errorf("uid %q, want %q: links lead there", d.UID, want)
			}
			fn(t, d, string(text))
		})
	}
}

func TestQueriesAreOnesThatTheDataSourceKnows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *dashboard, _ string) {
		t.Helper()
		for _, p := range d.Panels {
			if p.Type != "row" && len(p.Targets) == 0 {
				t.Errorf("panel %q asks nothing", p.Title)
			}
			for _, q := range p.Targets {
				if q.Datasource != nil && q.Datasource.UID == "-- Dashboard --" {
					if !slices.ContainsFunc(d.Panels, func(o panel) bool { return o.ID == q.PanelID && o.Targets[0].QueryType != "" }) {
						t.Errorf("%s: shows the answer of panel %d, which asks nothing", p.Title, q.PanelID)
					}
					continue
				}
				check(t, p.Title, &q)
			}
		}
		for _, a := range d.Annotations.List {
			if a.Target != nil && a.Datasource.Type == sourceType {
				q := *a.Target
				q.Datasource = a.Datasource
				check(t, a.Name, &q)
			}
		}
	})
}

func check(t *testing.T, title string, q *target) {
	t.Helper()
	if !slices.Contains(plugin.Kinds(), q.QueryType) {
		t.Errorf("%s: query type %q is unknown", title, q.QueryType)
	}
	if q.Datasource == nil || q.Datasource.Type != sourceType || q.Datasource.UID != "${ds}" {
		t.Errorf("%s: data source %v is not the variable", title, q.Datasource)
	}
	for _, name := range q.Names {
		if !query.KnownSeries(name) && !strings.HasPrefix(name, "$") {
			t.Errorf("%s: column %q is unknown", title, name)
		}
	}
}

func TestVariablesAreDefined(t *testing.T) {
	t.Parallel()
	used := regexp.MustCompile(`\$\{(\w+)[:}]`)
	each(t, func(t *testing.T, d *dashboard, text string) {
		t.Helper()
		var have []string
		for _, v := range d.Templating.List {
			have = append(have, v.Name)
		}
		for _, m := range used.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "__") && !slices.Contains(have, m[1]) {
				t.Errorf("variable %q is used and not defined", m[1])
			}
		}
		if !slices.Contains(have, "ds") {
			t.Error("the data source is no variable")
		}
	})
}

// Units come with the frames; a panel may only set one that the data source uses.
func TestUnitsAreKnown(t *testing.T) {
	t.Parallel()
	known := []string{"", "s", "reqps", "short", "percentunit"}
	each(t, func(t *testing.T, d *dashboard, _ string) {
		t.Helper()
		for _, p := range d.Panels {
			if !slices.Contains(known, p.FieldConfig.Defaults.Unit) {
				t.Errorf("panel %q: unit %q", p.Title, p.FieldConfig.Defaults.Unit)
			}
		}
	})
}

func TestPanelsLieApart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *dashboard, _ string) {
		t.Helper()
		ids := map[int]bool{}
		for i, p := range d.Panels {
			if ids[p.ID] {
				t.Errorf("panel id %d is used twice", p.ID)
			}
			ids[p.ID] = true
			g := p.GridPos
			if g.W < 1 || g.H < 1 || g.X+g.W > 24 {
				t.Errorf("panel %q is not on the grid: %+v", p.Title, g)
			}
			for _, o := range d.Panels[:i] {
				if h := o.GridPos; g.X < h.X+h.W && h.X < g.X+g.W && g.Y < h.Y+h.H && h.Y < g.Y+g.H {
					t.Errorf("panels %q and %q overlap", p.Title, o.Title)
				}
			}
		}
	})
}

// The plugin bundles the same files.
func TestPluginBundlesTheDashboards(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../plugin/src/plugin.json")
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Includes []struct{ Path string } }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	for _, in := range p.Includes {
		if _, err := os.Stat(filepath.Base(in.Path)); err != nil {
			t.Errorf("plugin.json includes %s: %v", in.Path, err)
		}
	}
	if len(p.Includes) != 5 {
		t.Errorf("plugin.json includes %d dashboards, want five", len(p.Includes))
	}
	if target, err := os.Readlink("../plugin/src/dashboards"); err != nil || target != "../../dashboards" {
		t.Errorf("plugin/src/dashboards leads to %q, %v", target, err)
	}
}

// Package grafana_test holds the provisioning against what the data source and
// Grafana ask of it: kinds of queries, numbers, stable labels, length of names.
package grafana_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll/plimsoll/plugin/pkg/plugin"
)

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("provisioning/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

type rule struct {
	UID, Title, Condition string
	For                   string
	NoDataState           string `yaml:"noDataState"`
	MissingEvals          int    `yaml:"missing_series_evals_to_resolve"`
	Labels, Annotations   map[string]string
	Data                  []struct {
		RefID         string `yaml:"refId"`
		DatasourceUID string `yaml:"datasourceUid"`
		Model         struct {
			QueryType string `yaml:"queryType"`
			Measure   string
			HoldMin   float64 `yaml:"holdMin"`
			Type      string
			Search    string
		}
	}
}

func TestAlertRules(t *testing.T) {
	t.Parallel()
	var file struct {
		Groups []struct{ Rules []rule }
	}
	read(t, "alerting/plimsoll.yaml", &file)
	var measures []string
	for _, r := range file.Groups[0].Rules {
		if len(r.UID) > 40 || r.NoDataState != "OK" || r.MissingEvals < 10 || r.Condition != "C" || !strings.HasPrefix(r.Title, "Plimsoll") {
			t.Errorf("rule %q: %+v", r.Title, r)
		}
		if r.Labels["severity"] == "" || len(r.Labels) != 1 {
			t.Errorf("rule %q: labels %v change what an alert is", r.Title, r.Labels)
		}
		ask := r.Data[0]
		if ask.DatasourceUID != "plimsoll" || ask.Model.QueryType != "alert" || ask.Model.HoldMin != 15 {
			t.Errorf("rule %q asks %+v", r.Title, ask)
		}
		if r.Data[1].DatasourceUID != "__expr__" || r.Data[1].Model.Type != "threshold" {
			t.Errorf("rule %q judges by %+v", r.Title, r.Data[1])
		}
		measures = append(measures, ask.Model.Measure)
	}
	slices.Sort(measures)
	if want := []string{"generator", "goodput", "recovery", "unstable"}; !slices.Equal(measures, want) {
		t.Errorf("measures %v, want %v", measures, want)
	}
	if !slices.Contains(plugin.Kinds(), "alert") {
		t.Error("the data source knows no alerts")
	}
}

func TestDataSource(t *testing.T) {
	t.Parallel()
	var file struct {
		Datasources []struct {
			UID, Type, URL string
			SecureJSONData map[string]string `yaml:"secureJsonData"`
		}
	}
	read(t, "datasources/plimsoll.yaml", &file)
	d := file.Datasources[0]
	if d.UID != "plimsoll" || d.Type != "plimsoll-loadtest-datasource" || d.URL != "${PLIMSOLL_URL}" || d.SecureJSONData["token"] != "${PLIMSOLL_TOKEN}" {
		t.Errorf("data source %+v", d)
	}
}

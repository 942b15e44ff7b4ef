package plugin

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// Bounds of settings.
const (
	defaultAnswerMiB = 32
	maxAnswerMiB     = 256
	defaultRows      = 1000
	maxRows          = 20_000
	defaultDashboard = "plimsoll-run"
)

// Settings are what a data source is configured with.
type Settings struct {
	MaxAnswerMiB int    `json:"maxAnswerMiB"` // bytes read of one answer of the server
	MaxRows      int    `json:"maxRows"`      // rows of a table, cells of a heatmap's axis of time
	TracesUID    string `json:"tracesUid"`    // data source that holds the traces of the load
	TracesName   string `json:"tracesName"`
	DashboardUID string `json:"dashboardUid"` // dashboard that shows one run

	token string
}

// readSettings decodes the settings of a data source and names every problem.
func readSettings(in backend.DataSourceInstanceSettings) (Settings, error) {
	var s Settings
	if len(in.JSONData) > 0 {
		if err := json.Unmarshal(in.JSONData, &s); err != nil {
			return s, fmt.Errorf("read settings: %w", err)
		}
	}
	var problems []error
	if in.URL == "" {
		problems = append(problems, errors.New("URL is missing: give the address of the server, like http://127.0.0.1:4319"))
	}
	bound := func(v *int, name string, byDefault, most int) {
		if *v == 0 {
			*v = byDefault
		}
		if *v < 1 || *v > most {
			problems = append(problems, fmt.Errorf("%s: %d is not within 1 and %d", name, *v, most))
		}
	}
	bound(&s.MaxAnswerMiB, "largest answer", defaultAnswerMiB, maxAnswerMiB)
	bound(&s.MaxRows, "most rows", defaultRows, maxRows)
	if s.DashboardUID == "" {
		s.DashboardUID = defaultDashboard
	}
	s.token = in.DecryptedSecureJSONData["token"]
	return s, errors.Join(problems...)
}

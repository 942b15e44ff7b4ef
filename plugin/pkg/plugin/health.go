package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// CheckHealth says whether the data source works, and what to fix if not.
func (d *Datasource) CheckHealth(ctx context.Context, _ *backend.CheckHealthRequest) (*backend.CheckHealthResult, error) {
	return d.health(ctx), nil
}

// health looks for a server and says what it finds; a failure is an answer too.
func (d *Datasource) health(ctx context.Context) *backend.CheckHealthResult {
	if d.broken != nil {
		return unwell(d.broken.Error(), "")
	}
	list, err := d.client.Runs(ctx, url.Values{"limit": {"1"}})
	if err != nil {
		return unwell(err.Error(), remedy(err))
	}
	if len(list.Runs) == 0 {
		return &backend.CheckHealthResult{
			Status:  backend.HealthStatusOk,
			Message: "Plimsoll answers. It has no runs yet: send it telemetry, import a file, or run plimsoll demo.",
		}
	}
	newest := list.Runs[0]
	name := newest.Name
	if name == "" {
		name = newest.ID
	}
	details, _ := json.Marshal(map[string]string{"newest_run": newest.ID, "state": newest.State}) // strings: it cannot fail
	return &backend.CheckHealthResult{
		Status: backend.HealthStatusOk, Message: fmt.Sprintf("Plimsoll answers. Newest run: %s (%s).", name, newest.State), JSONDetails: details,
	}
}

func unwell(what, todo string) *backend.CheckHealthResult {
	text := strings.TrimSpace(what)
	if todo != "" {
		text = todo + " (" + text + ")"
	}
	return &backend.CheckHealthResult{Status: backend.HealthStatusError, Message: text}
}

// Command gpx_plimsoll is the backend of the Grafana data source. Grafana starts
// it and speaks to it over gRPC; it speaks to a Plimsoll server over HTTP.
package main

import (
	"os"

	"github.com/grafana/grafana-plugin-sdk-go/backend/datasource"
	"github.com/grafana/grafana-plugin-sdk-go/backend/log"

	"github.com/plimsoll/plimsoll/plugin/pkg/plugin"
)

func main() {
	if err := datasource.Manage("plimsoll-loadtest-datasource", plugin.NewDatasource, datasource.ManageOpts{}); err != nil {
		log.DefaultLogger.Error("plugin ended", "error", err)
		os.Exit(1) //nolint:forbidigo // this is a command
	}
}

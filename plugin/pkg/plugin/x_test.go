package plugin_test

import (
	_ "github.com/grafana/grafana-plugin-sdk-go/experimental"
	_ "github.com/grafana/grafana-plugin-sdk-go/experimental/datasourcetest"
)

package plugin

import (
	"context"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/backend/instancemgmt"
	"github.com/grafana/grafana-plugin-sdk-go/data"
)

var _ = data.NewFrame

func NewDatasource(context.Context, backend.DataSourceInstanceSettings) (instancemgmt.Instance, error) { return nil, nil }

package plugin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/backend/httpclient"
	"github.com/grafana/grafana-plugin-sdk-go/backend/instancemgmt"
	"github.com/grafana/grafana-plugin-sdk-go/backend/log"
	"github.com/grafana/grafana-plugin-sdk-go/backend/resource/httpadapter"

	"github.com/plimsoll/plimsoll/plugin/pkg/plimsoll"
)

// atOnce bounds the questions that one request asks the server at the same time.
const atOnce = 6

// Datasource answers for one configured data source.
type Datasource struct {
	backend.CallResourceHandler

	uid      string
	settings Settings
	client   *plimsoll.Client
	http     *http.Client
	broken   error // the settings cannot work
	log      log.Logger
}

var (
	_ backend.QueryDataHandler      = (*Datasource)(nil)
	_ backend.CheckHealthHandler    = (*Datasource)(nil)
	_ backend.CallResourceHandler   = (*Datasource)(nil)
	_ instancemgmt.InstanceDisposer = (*Datasource)(nil)
)

// NewDatasource makes a data source from its settings. Settings that cannot work
// are kept as an error, so that the health check can say what to fix.
func NewDatasource(ctx context.Context, in backend.DataSourceInstanceSettings) (instancemgmt.Instance, error) {
	d := &Datasource{uid: in.UID, log: log.DefaultLogger}
	d.CallResourceHandler = httpadapter.New(d.resources())
	d.broken = d.connect(ctx, in)
	return d, nil
}

// connect makes the client of the server.
func (d *Datasource) connect(ctx context.Context, in backend.DataSourceInstanceSettings) error {
	var err error
	if d.settings, err = readSettings(in); err != nil {
		return err
	}
	options, err := in.HTTPClientOptions(ctx)
	if err != nil {
		return fmt.Errorf("read connection settings: %w", err)
	}
	if d.settings.token != "" {
		options.Header.Set("Authorization", "Bearer "+d.settings.token)
	}
	if d.http, err = httpclient.New(options); err != nil {
		return fmt.Errorf("make HTTP client: %w", err)
	}
	d.client, err = plimsoll.New(in.URL, d.http, int64(d.settings.MaxAnswerMiB)<<20)
	return err
}

// Dispose closes what the data source holds open.
func (d *Datasource) Dispose() {
	if d.http != nil {
		d.http.CloseIdleConnections()
	}
}

// QueryData answers the queries of a request, several at once. One that fails
// does not fail the others.
func (d *Datasource) QueryData(ctx context.Context, req *backend.QueryDataRequest) (*backend.QueryDataResponse, error) {
	out := backend.NewQueryDataResponse()
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, in := range req.Queries {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			got := d.answer(ctx, in)
			mu.Lock()
			defer mu.Unlock()
			out.Responses[in.RefID] = got
		})
	}
	wg.Wait()
	return out, nil
}

// answer answers one query.
func (d *Datasource) answer(ctx context.Context, in backend.DataQuery) (out backend.DataResponse) {
	defer func() {
		if v := recover(); v != nil {
			d.log.FromContext(ctx).Error("query failed", "panic", v, "stack", string(debug.Stack()))
			out = backend.ErrorResponseWithErrorSource(backend.PluginError(errors.New("internal error of the data source: its log says more")))
		}
	}()
	if d.broken != nil {
		return fault(backend.DownstreamError(fmt.Errorf("data source is not set up: %w", d.broken)))
	}
	q, err := readQuery(in)
	if err != nil {
		return fault(backend.DownstreamError(err))
	}
	frames, err := d.frames(ctx, q)
	if err != nil {
		return fault(source(d.reading(ctx, q, err)))
	}
	for _, f := range frames {
		f.RefID = in.RefID
		for _, one := range f.Fields {
			if q.Prefix != "" && one.Config != nil {
				one.Config.DisplayNameFromDS = q.Prefix + one.Config.DisplayNameFromDS
				one.Config.Color = nil // runs side by side are told apart by their colours
			}
		}
		if f.Meta != nil {
			f.Meta.ExecutedQueryString = q.String()
		}
	}
	return backend.DataResponse{Frames: frames, Status: backend.StatusOK}
}

// fault turns an error into a response.
func fault(err error) backend.DataResponse {
	out := backend.ErrorResponseWithErrorSource(err)
	if refusal, ok := errors.AsType[*plimsoll.Error](err); ok {
		out.Status = backend.Status(refusal.Status)
	}
	return out
}

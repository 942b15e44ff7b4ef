package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/plimsoll/plimsoll/plugin/pkg/plimsoll"
)

// source says whose fault an error is: what the server refused, the network and
// questions that were called off are downstream; all else is the plugin's.
func source(err error) error {
	if err == nil || backend.IsDownstreamError(err) {
		return err
	}
	var (
		refusal *plimsoll.Error
		network net.Error
		address *url.Error
		wrong   *json.SyntaxError
	)
	switch {
	case errors.As(err, &refusal), errors.As(err, &network), errors.As(err, &address), errors.As(err, &wrong),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, plimsoll.ErrTooLarge), errors.Is(err, plimsoll.ErrNotPlimsoll), errors.Is(err, errTooMany), errors.Is(err, errNotJudged):
		return backend.DownstreamError(err)
	}
	return backend.PluginError(err)
}

// progressPatience is how long the server may take to say how far it is.
const progressPatience = 5 * time.Second

// reading explains an answer that did not come in time, where the server is still
// reading the run: it goes on, and the next who asks finds it further.
func (d *Datasource) reading(ctx context.Context, q *Query, err error) error {
	var network net.Error
	late := errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
	if !late {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), progressPatience)
	defer cancel()
	run, wrong := d.client.Run(ctx, q.Run)
	if wrong != nil || run.Judging == nil {
		return err
	}
	return backend.DownstreamError(fmt.Errorf("the server is still reading the run, %.0f %% is done: refresh in a moment, or raise the time-out of the data source", *run.Judging*100))
}

// remedy says what to do about an error of the connection.
func remedy(err error) string {
	var (
		refusal *plimsoll.Error
		dns     *net.DNSError
		network net.Error
	)
	switch {
	case errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden):
		return "The server wants a token: enter the one that it was started with (PLIMSOLL_TOKEN) under Token."
	case errors.As(err, &refusal) && refusal.Status == http.StatusServiceUnavailable:
		return "The server is starting or stopping: try again in a moment."
	case errors.Is(err, plimsoll.ErrNotPlimsoll), errors.Is(err, plimsoll.ErrTooLarge), errors.As(err, &refusal):
		return ""
	case errors.As(err, &dns):
		return "No host of that name is known where Grafana runs: check the URL."
	case errors.As(err, &network) && network.Timeout():
		return "The server did not answer in time: check the address and firewalls, or raise the timeout."
	default:
		return "Nothing answers there: check the URL, that plimsoll serve runs, and that it listens on an address which " +
			"Grafana can reach (it listens on loopback unless --http-addr says otherwise)."
	}
}

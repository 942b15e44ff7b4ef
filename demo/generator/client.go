package generator

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll/plimsoll/demo/service"
)

// Outcome is how an attempt, or a request, ended.
type Outcome uint8

// Outcomes.
const (
	OK Outcome = iota
	Failed
	TimedOut
	Shed
	Cancelled
)

// answer is what came back from one attempt.
type answer struct {
	outcome    Outcome
	status     int           // 0 when there was none
	errorType  string        // for error.type; empty when answered successfully
	retryAfter time.Duration // 0 when the server did not ask
}

// client posts orders. It keeps enough idle connections that a burst does not
// have to dial anew.
type client struct {
	http *http.Client
	url  string
}

func newClient(target string, idle int) *client {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		IdleConnTimeout:     30 * time.Second,
		DisableCompression:  true,
	}
	return &client{http: &http.Client{Transport: transport}, url: target}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// post makes one attempt and waits for the whole answer, at most for timeout.
func (c *client) post(ctx context.Context, timeout time.Duration) answer {
	attempt, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(attempt, http.MethodPost, c.url, strings.NewReader(`{"item":1}`))
	if err != nil {
		return answer{outcome: Failed, errorType: "request"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(service.TimeoutHeader, strconv.FormatInt(max(1, timeout.Milliseconds()), 10))
	resp, err := c.http.Do(req)
	if err != nil {
		return failure(ctx, err, 0)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return failure(ctx, err, resp.StatusCode)
	}
	return judge(resp)
}

func judge(resp *http.Response) answer {
	a := answer{status: resp.StatusCode}
	switch {
	case resp.StatusCode < 400:
		return a
	case resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests:
		a.outcome = Shed
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			a.retryAfter = time.Duration(s) * time.Second
		}
	case resp.StatusCode == http.StatusGatewayTimeout || resp.StatusCode == http.StatusRequestTimeout:
		a.outcome = TimedOut
	default:
		a.outcome = Failed
	}
	a.errorType = strconv.Itoa(resp.StatusCode)
	return a
}

// failure names why there was no whole answer. The run's own context tells a
// client that gave up from a run that was stopped.
func failure(run context.Context, err error, status int) answer {
	var timeout interface{ Timeout() bool }
	switch {
	case run.Err() != nil:
		return answer{outcome: Cancelled, status: status, errorType: "context.Canceled"}
	case errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()):
		return answer{outcome: TimedOut, status: status, errorType: "timeout"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return answer{outcome: Failed, status: status, errorType: "connection_refused"}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return answer{outcome: Failed, status: status, errorType: "connection_reset"}
	case errors.Is(err, syscall.EMFILE):
		return answer{outcome: Failed, status: status, errorType: "too_many_open_files"}
	default:
		return answer{outcome: Failed, status: status, errorType: "_OTHER"}
	}
}

// retriable says whether another attempt could help: the attempt timed out, or
// the server had trouble of its own.
func (a answer) retriable() bool {
	return a.outcome == TimedOut || a.status >= 500 || a.status == http.StatusTooManyRequests
}

// address splits the target for server.address and server.port.
func address(target string) (host string, port int) {
	u, err := url.Parse(target)
	if err != nil {
		return "", 0
	}
	port, err = strconv.Atoi(u.Port())
	if err != nil {
		port = 80
	}
	return u.Hostname(), port
}

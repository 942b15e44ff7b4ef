package importer

import (
	"hash/fnv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// k6Metric is a metric of k6 that is read; all others are passed over.
type k6Metric uint8

const (
	k6Other k6Metric = iota
	k6Duration
	k6Blocked
	k6Receiving
	k6Failed
	k6Iteration
	k6Dropped
	k6VUs
	k6VUsMax
	k6Reqs
)

// k6MetricOf tells which metric a name means.
func k6MetricOf(name []byte) k6Metric {
	switch string(name) {
	case "http_req_duration", "grpc_req_duration", "browser_http_req_duration":
		return k6Duration
	case "http_req_blocked":
		return k6Blocked
	case "http_req_receiving":
		return k6Receiving
	case "http_req_failed", "browser_http_req_failed":
		return k6Failed
	case "iteration_duration":
		return k6Iteration
	case "dropped_iterations":
		return k6Dropped
	case "vus":
		return k6VUs
	case "vus_max":
		return k6VUsMax
	case "http_reqs":
		return k6Reqs
	}
	return k6Other
}

// k6Tags are the tags and metadata of a sample that are read.
type k6Tags struct {
	scenario  []byte
	group     []byte
	name      []byte
	method    []byte
	status    int
	errorCode int
	expected  byte // 't' or 'f'; 0 when not said
	attempt   int  // tag of the script; 0 when not said
	vu, iter  int64
	joined    bool // vu and iter are known
	grpc      bool
}

// k6Request is a request as its samples tell it.
type k6Request struct {
	scenario   string
	name       string // with its method
	start, end int64
	firstByte  int64
	outcome    sample.Outcome
	failed     bool
	status     int16
	attempt    int16
	vu, iter   int64
	joined     bool
}

// Scenarios beyond so many are one.
const (
	k6Scenarios = 1000
	k6Rest      = "(other scenarios)"
)

// k6Reader puts requests together from their samples, which follow one another,
// and hands them to their scenarios.
type k6Reader struct {
	sink      *Sink
	unit      int64 // to which times are known, ns
	names     map[string]string
	scenarios map[string]*k6Scenario
	order     []*k6Scenario
	current   k6Request
	open      bool
	expected  byte
	aside     int64 // requests of setup and teardown
	keys      uint64
	buf       []byte
}

func newK6Reader(sink *Sink) *k6Reader {
	h := fnv.New64a()
	h.Write([]byte(sink.report.RunID + "\x00" + sink.src.Name))
	return &k6Reader{
		sink: sink, names: map[string]string{}, scenarios: map[string]*k6Scenario{}, keys: h.Sum64(),
	}
}

// intern returns a string with the content of b.
func (k *k6Reader) intern(b []byte) string {
	s, ok := k.names[string(b)]
	if !ok {
		if len(k.names) > 100_000 {
			clear(k.names) // addresses without end: forget them
		}
		s = string(b)
		k.names[s] = s
	}
	return s
}

func (k *k6Reader) scenario(name []byte) *k6Scenario {
	s := k.scenarios[string(name)]
	if s == nil && len(k.order) >= k6Scenarios {
		name = []byte(k6Rest)
		s = k.scenarios[k6Rest]
	}
	if s == nil {
		s = newK6Scenario(k, string(name))
		k.scenarios[s.group.Scenario] = s
		k.order = append(k.order, s)
	}
	return s
}

// sample takes one observation.
func (k *k6Reader) sample(m k6Metric, at int64, value float64, tags *k6Tags) error {
	switch m {
	case k6Blocked:
		if k.open && at == k.current.end {
			k.current.start -= millis(value)
		}
		return nil
	case k6Receiving:
		if k.open && at == k.current.end {
			k.current.firstByte = at - millis(value)
		}
		return nil
	case k6Failed:
		if k.open && at == k.current.end {
			k.current.failed = value != 0
		}
		return nil
	}
	if err := k.finish(); err != nil {
		return err
	}
	switch m {
	case k6Duration:
		if strings.HasPrefix(view(tags.group), "::setup") || strings.HasPrefix(view(tags.group), "::teardown") {
			k.aside++
			return nil
		}
		k.begin(at, value, tags)
	case k6Iteration:
		e := k6Event{kind: k6EndOfIteration, start: at - millis(value), end: at}
		e.request.vu, e.request.iter, e.request.joined = tags.vu, tags.iter, tags.joined
		return k.scenario(tags.scenario).event(&e)
	case k6Dropped:
		return k.scenario(tags.scenario).event(&k6Event{kind: k6Drop, end: at, value: value})
	case k6VUs, k6VUsMax:
		name := "vus"
		if m == k6VUsMax {
			name = "vus_max"
		}
		s := sample.Series{Service: "k6", Scope: "k6", Name: name, Kind: sample.Gauge}
		return k.sink.Point(&s, sample.Point{Time: at, Value: value})
	}
	return nil
}

func (k *k6Reader) begin(at int64, value float64, tags *k6Tags) {
	k.open, k.expected = true, tags.expected
	k.buf = append(append(append(k.buf[:0], tags.method...), ' '), tags.name...)
	k.current = k6Request{
		scenario: k.intern(tags.scenario), name: k.intern(k.buf), start: at - millis(value), end: at,
		status: int16(tags.status), attempt: int16(tags.attempt), failed: tags.expected == 'f',
		vu: tags.vu, iter: tags.iter, joined: tags.joined,
	}
	r := &k.current
	switch {
	case tags.grpc:
		r.outcome = k6GRPC(tags.status)
		r.failed = r.outcome != sample.OK
	case tags.expected == 0 && (tags.errorCode != 0 || tags.status >= 400):
		r.failed = true
	}
	if !tags.grpc {
		r.outcome = k6Failure(tags.status, tags.errorCode)
	}
}

// k6Failure classifies a request by its HTTP status and k6's error code, in case
// that it failed.
func k6Failure(status, code int) sample.Outcome {
	switch {
	case status == 429 || status == 503:
		return sample.Shed
	case status == 408 || status == 504, code == 1050, code == 1211, code == 1511:
		return sample.Timeout
	}
	return sample.Error
}

// k6GRPC classifies a gRPC code.
func k6GRPC(code int) sample.Outcome {
	switch code {
	case 0:
		return sample.OK
	case 1:
		return sample.Cancelled
	case 4:
		return sample.Timeout
	case 8, 14:
		return sample.Shed
	}
	return sample.Error
}

// finish hands the request on whose samples are complete.
func (k *k6Reader) finish() error {
	if !k.open {
		return nil
	}
	k.open = false
	r := k.current
	if !r.failed && r.outcome != sample.Shed {
		r.outcome = sample.OK
	}
	e := k6Event{kind: k6EndOfRequest, start: r.start, end: r.end, request: r}
	return k.scenario([]byte(r.scenario)).event(&e)
}

// close ends the file.
func (k *k6Reader) close() error {
	if err := k.finish(); err != nil {
		return err
	}
	if k.aside > 0 {
		k.sink.Warn("%d requests of setup() and teardown() are left out: they are no load", k.aside)
	}
	for _, s := range k.order {
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// key makes a key that joins the attempts of one request.
func (k *k6Reader) key() uint64 {
	k.keys += 0x9e3779b97f4a7c15 // odd: all keys of a file differ
	return max(k.keys, 1)
}

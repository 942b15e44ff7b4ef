package importer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
)

// k6JSON reads what "k6 run --out json=FILE" writes: one JSON object a line, a
// Point for each observation of a metric. A request is spread over the points
// of its own metrics, which follow one another and carry the time of its end.
func k6JSON() Format {
	return Format{
		Name: "k6-json", Title: "k6 JSON output", Generator: "k6",
		Sniff: func(head []byte) bool {
			line, _, _ := bytes.Cut(head, []byte("\n"))
			return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) &&
				(bytes.Contains(line, []byte(`"type":"Metric"`)) || bytes.Contains(line, []byte(`"type":"Point"`))) &&
				bytes.Contains(line, []byte(`"metric":"`))
		},
		Read: readK6JSON,
	}
}

func readK6JSON(_ context.Context, src *Source, sink *Sink) error {
	k := newK6Reader(sink)
	p := k6Line{clock: &clock{}}
	for {
		line, err := src.Line()
		switch {
		case errors.Is(err, io.EOF):
			return k.close()
		case err != nil:
			if err := sink.Bad(err); err != nil {
				return err
			}
			continue
		}
		point, err := p.read(line)
		if err == nil && point {
			err = k.sample(p.metric, p.time, p.value, &p.tags)
			if err != nil {
				return err
			}
		} else if err != nil {
			if err := sink.Bad(err); err != nil {
				return err
			}
		}
	}
}

// k6Line is a line of k6's JSON output.
type k6Line struct {
	clock  *clock
	metric k6Metric
	time   int64
	value  float64
	tags   k6Tags

	scan jsonScan
}

// errPoint says that a point lacks what it must have.
var errPoint = errors.New("point without a metric or a time")

// read parses a line. It returns false for lines that are passed over: other
// metrics are not looked at beyond their name, if that comes first.
func (p *k6Line) read(line []byte) (bool, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"metric":"`)); ok {
		if i := bytes.IndexByte(rest, '"'); i >= 0 && bytes.HasSuffix(line, []byte("}")) {
			if m := k6MetricOf(rest[:i]); m == k6Other || m == k6Reqs {
				return false, nil
			}
		}
	}
	*p = k6Line{clock: p.clock, scan: jsonScan{b: line}}
	point := false
	p.scan.object(func(key []byte) {
		switch string(key) {
		case "metric":
			name := p.scan.text()
			p.metric = k6MetricOf(name)
			p.tags.grpc = bytes.HasPrefix(name, []byte("grpc_"))
		case "type":
			point = string(p.scan.text()) == "Point"
		case "data":
			p.data()
		default:
			p.scan.skip()
		}
	})
	p.scan.end()
	switch {
	case p.scan.err != nil:
		return false, p.scan.err
	case !point || p.metric == k6Other || p.metric == k6Reqs:
		return false, nil
	case p.time <= 0:
		return false, errPoint
	}
	return true, nil
}

// data reads what is common to all points; of declarations nothing remains.
func (p *k6Line) data() {
	if p.scan.peek() != '{' {
		p.scan.skip()
		return
	}
	p.scan.object(func(key []byte) {
		switch string(key) {
		case "time":
			at, err := p.clock.parse(p.scan.text())
			if err != nil && p.scan.err == nil {
				p.scan.err = err
			}
			p.time = at
		case "value":
			p.value = p.scan.float()
		case "tags", "metadata":
			if p.scan.peek() != '{' || p.metric == k6Blocked || p.metric == k6Failed || p.metric == k6Receiving {
				p.scan.skip()
				return
			}
			p.scan.object(func(key []byte) {
				if p.scan.peek() != '"' {
					p.scan.skip()
					return
				}
				p.tags.set(key, p.scan.text())
			})
			p.tags.joined = p.tags.joined && p.tags.vu > 0
		default:
			p.scan.skip()
		}
	})
}

// set takes a tag or a piece of metadata.
func (t *k6Tags) set(key, value []byte) {
	switch string(key) {
	case "scenario":
		t.scenario = value
	case "group":
		t.group = value
	case "name":
		t.name = value
	case "method":
		t.method = value
	case "status":
		t.status = small(value)
	case "error_code":
		t.errorCode = small(value)
	case "expected_response":
		if len(value) > 0 {
			t.expected = value[0]
		}
	case "attempt":
		t.attempt = small(value)
	case "vu":
		t.vu = int64(small(value))
		t.joined = true
	case "iter":
		t.iter = int64(small(value))
	}
}

// small reads a number of few digits; anything else is 0.
func small(b []byte) int {
	if len(b) > 9 {
		return 0
	}
	n, err := strconv.Atoi(view(b))
	if err != nil {
		return 0
	}
	return n
}

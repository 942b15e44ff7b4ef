package convention

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Stamp says how a line of InfluxDB's line protocol tells of one request: a
// field holds its duration, and the time of the line is its start or its end.
// The zero value says that a field is no duration.
type Stamp struct {
	Unit int64 // nanoseconds of one unit of the field
	End  bool  // the time of the line is that of the end
}

// stamps lists the names of stamps in a mapping file.
func stamps() map[string]Stamp {
	return map[string]Stamp{
		"start_s": {Unit: 1e9}, "start_ms": {Unit: 1e6}, "start_us": {Unit: 1e3}, "start_ns": {Unit: 1},
		"end_s": {Unit: 1e9, End: true}, "end_ms": {Unit: 1e6, End: true}, "end_us": {Unit: 1e3, End: true}, "end_ns": {Unit: 1, End: true},
	}
}

// Request returns how a field of line protocol tells of requests, by the name
// MEASUREMENT.FIELD; the zero value for any other.
func (t *Table) Request(field []byte) Stamp { return t.requests[string(field)] }

// MapsLines reports whether the mapping names metrics or requests at all.
func (t *Table) MapsLines() bool { return len(t.requests)+len(t.metrics) > 0 }

func (p *parser) request(k, v *yaml.Node) {
	s, ok := stamps()[v.Value]
	if !ok {
		var known []string
		for name := range stamps() {
			known = append(known, name)
		}
		slices.Sort(known)
		p.problem(v, "request %q: unknown stamp %q (known: %s)", k.Value, v.Value, strings.Join(known, ", "))
		return
	}
	p.m.Requests[k.Value] = s
}

package queues

import (
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Recognise tells what a series says about a queue of a server; ok is false when
// it says nothing about one. Series that a mapping file gave a role have the
// name of their metric.
func Recognise(s *sample.Series) (q Queue, ok bool) {
	if role, metric := sample.SplitRole(s.Name); role != "" {
		return mapped(role, metric, s)
	}
	if internal(s) {
		return Queue{}, false
	}
	m, place, ok := find(s.Name)
	if !ok || !meets(m.when, s.Attributes) {
		return Queue{}, false
	}
	form, ok := formOf(s.Kind, m.form)
	if !ok {
		return Queue{}, false
	}
	scale, ok := m.scale(s)
	if !ok {
		return Queue{}, false
	}
	if place == "" {
		place = placeOf(s.Attributes)
	}
	return Queue{Name: m.name, Kind: m.kind, Form: form, Scale: scale, Merge: m.merge(), Place: place, Pair: m.pair}, true
}

// Canonical returns the name by which a metric is known here, whichever way its
// name is written, or the name itself when it is not known.
func Canonical(name string) string {
	_, metric := sample.SplitRole(name)
	if m, _, ok := find(metric); ok {
		return m.name
	}
	return metric
}

// mapped is a series whose metric has a role by the mapping file.
func mapped(role, metric string, s *sample.Series) (Queue, bool) {
	m := known{name: metric, form: Level}
	switch role {
	case "queue":
		m.kind = Waiting
	case "pool_pending":
		m.kind = PoolPending
	case "in_flight":
		m.kind = ActiveRequests
	case "in_flight_time":
		m.kind, m.form, m.unit = ActiveTime, Total, seconds
	case "workers":
		m.kind = Workers
	case "workers_max":
		m.kind = WorkersMax
	case "cpu":
		m.kind, m.unit = CPU, ratio
	default:
		return Queue{}, false
	}
	form, ok := formOf(s.Kind, m.form)
	if !ok {
		return Queue{}, false
	}
	scale, ok := m.scale(s)
	return Queue{Name: metric, Kind: m.kind, Form: form, Scale: scale, Merge: m.merge(), Place: placeOf(s.Attributes), Role: role}, ok
}

// internal reports series of programs that watch instead of serving: their
// queues are of telemetry.
func internal(s *sample.Series) bool {
	for _, name := range []string{s.Name, s.Scope} {
		if strings.HasPrefix(name, "otel.sdk.") || strings.HasPrefix(name, "otelcol_") || strings.HasPrefix(name, "otelcol.") {
			return true
		}
	}
	return false
}

// find looks a name up as it is, then without what stands for its unit.
func find(name string) (m known, place string, ok bool) {
	key := normal(name)
	if m, ok = lookup(key); ok {
		return m, "", true
	}
	if m, place, ok = envoy(name, key); ok {
		return m, place, true
	}
	for {
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return known{}, "", false
		}
		suffix := key[i+1:]
		time, counts := suffixOf(suffix)
		if time == 0 && !counts {
			return known{}, "", false
		}
		key = key[:i]
		m, ok = lookup(key)
		switch {
		case !ok:
			continue
		case time > 0 && m.unit.timed():
			m.unit = unit(time)
			return m, "", true
		case counts && !m.unit.timed():
			return m, "", true
		}
		return known{}, "", false
	}
}

// normal writes a name in lower case with a dot between all words.
func normal(name string) string {
	if len(name) > 256 {
		return ""
	}
	var b strings.Builder
	b.Grow(len(name))
	dot := true
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == ':' || c == '-' || c == '/' || c == '.':
			if !dot {
				b.WriteByte('.')
			}
			dot = true
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		b.WriteByte(c)
		dot = false
	}
	return strings.TrimSuffix(b.String(), ".total")
}

// formOf compares the shape of a series with what its name promises.
func formOf(k sample.Kind, want Form) (Form, bool) {
	var got Form
	switch k {
	case sample.Gauge, sample.UpDown:
		got = Level
	case sample.Counter, sample.DeltaSum:
		got = Total
	case sample.Histogram, sample.DeltaHisto:
		got = Spread
	}
	return got, got == want
}

package convention

import (
	"maps"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Table answers what names mean. It never changes after New and may be used by
// any number of goroutines.
type Table struct {
	shapes     [256]uint64 // by first byte: the lengths of known keys modulo 64, as bits
	attributes map[string]Attribute
	metrics    map[string]Role
	http       map[int]sample.Outcome    // by HTTP status
	grpc       map[int]sample.Outcome    // by gRPC code
	errors     map[string]sample.Outcome // by error.type
	requests   map[string]Stamp
}

// Default returns the table without a mapping file.
func Default() *Table { return New(Mapping{}) }

// New returns the built-in names extended by a mapping. Where both know a name
// the mapping wins.
func New(m Mapping) *Table {
	t := &Table{
		attributes: map[string]Attribute{}, metrics: map[string]Role{}, errors: map[string]sample.Outcome{},
		http: map[int]sample.Outcome{}, grpc: map[int]sample.Outcome{},
	}
	for _, name := range builtinNames() {
		t.shapes[name[0]] |= 1 << (len(name) & 63)
	}
	for theirs, ours := range m.Attributes {
		if theirs == "" {
			continue
		}
		t.attributes[theirs] = loadtestAttribute([]byte(ours))
		t.shapes[theirs[0]] |= 1 << (len(theirs) & 63)
	}
	t.requests = maps.Clone(m.Requests)
	maps.Copy(t.metrics, m.Metrics)
	for key, o := range m.Outcomes {
		n, isNumber := number([]byte(key))
		code := GRPCCode([]byte(key))
		switch {
		case isNumber && n < 100:
			t.grpc[n] = o
		case isNumber && n < 1000:
			t.http[n] = o
		case code >= 0:
			t.grpc[code] = o
		}
		t.errors[key] = o
	}
	return t
}

// Attribute returns what an attribute key means. Most keys mean nothing, and are
// told by their first byte and length.
func (t *Table) Attribute(key []byte) Attribute {
	if !t.Likely(key) {
		return NoAttribute
	}
	return t.lookup(key)
}

// Likely reports whether a key may mean something. It costs less than Attribute
// and is false for most keys that mean nothing.
func (t *Table) Likely(key []byte) bool {
	return len(key) > 0 && t.shapes[key[0]]>>(len(key)&63)&1 != 0
}

func (t *Table) lookup(key []byte) Attribute {
	if len(t.attributes) > 0 {
		if a, ok := t.attributes[string(key)]; ok {
			return a
		}
	}
	return builtin(key)
}

// number reads a short decimal number without a sign.
func number(s []byte) (int, bool) {
	if len(s) == 0 || len(s) > 6 {
		return 0, false
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

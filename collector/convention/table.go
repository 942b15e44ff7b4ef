package convention

import "github.com/plimsoll/plimsoll/analysis/sample"

// Table answers what names mean. It never changes after New and may be used by
// any number of goroutines.
type Table struct {
	attributes map[string]Attribute
	lengths    [4]uint64 // lengths (below 256) of the keys of attributes, as bits
	metrics    map[string]Role
	http       map[int]sample.Outcome    // by HTTP status
	grpc       map[int]sample.Outcome    // by gRPC code
	errors     map[string]sample.Outcome // by error.type
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
	for theirs, ours := range m.Attributes {
		t.attributes[theirs] = loadtestAttribute(ours)
		if len(theirs) < 256 {
			t.lengths[len(theirs)/64] |= 1 << (len(theirs) % 64)
		}
	}
	for theirs, role := range m.Metrics {
		t.metrics[theirs] = role
	}
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

// Attribute returns what an attribute key means.
func (t *Table) Attribute(key []byte) Attribute {
	if n := len(key); n < 256 && t.lengths[n/64]&(1<<(n%64)) != 0 {
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

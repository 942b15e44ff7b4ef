package convention

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Mapping extends the built-in names by those of the user.
type Mapping struct {
	Attributes map[string]string         // their attribute -> loadtest.* name
	Metrics    map[string]Role           // their metric -> role
	Outcomes   map[string]sample.Outcome // HTTP status, gRPC code or error.type -> outcome
	Requests   map[string]Stamp          // field of InfluxDB lines -> that it is the duration of one request
}

// maxMapping bounds the size of a mapping file.
const maxMapping = 1 << 20

// ParseMapping reads a mapping file. Anything that it does not know is an
// error; all problems are reported at once, each with its line.
func ParseMapping(data []byte) (Mapping, error) {
	m := Mapping{Attributes: map[string]string{}, Metrics: map[string]Role{}, Outcomes: map[string]sample.Outcome{}, Requests: map[string]Stamp{}}
	if len(data) > maxMapping {
		return Mapping{}, fmt.Errorf("read mapping: file is larger than %d bytes", maxMapping)
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return m, nil
	case err != nil:
		return Mapping{}, fmt.Errorf("read mapping: %w", err)
	}
	p := parser{m: &m}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		p.problem(&more, "only one document is allowed")
	}
	if len(doc.Content) == 1 {
		p.file(doc.Content[0])
	}
	if len(p.problems) > 0 {
		return Mapping{}, fmt.Errorf("read mapping: %w", errors.Join(p.problems...))
	}
	return m, nil
}

type parser struct {
	m        *Mapping
	problems []error
}

func (p *parser) problem(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("line %d: "+format, append([]any{n.Line}, args...)...))
}

func (p *parser) file(root *yaml.Node) {
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return
	}
	p.pairs(root, "the file", func(k, v *yaml.Node) {
		switch k.Value {
		case "attributes":
			p.section(v, k.Value, p.attribute)
		case "metrics":
			p.section(v, k.Value, p.metric)
		case "outcomes":
			p.section(v, k.Value, p.outcome)
		case "requests":
			p.section(v, k.Value, p.request)
		default:
			p.problem(k, "unknown key %q (known: attributes, metrics, outcomes, requests)", k.Value)
		}
	})
}

// pairs calls fn for each entry of a mapping node with plain, distinct keys.
func (p *parser) pairs(n *yaml.Node, what string, fn func(k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.problem(n, "%s must be a mapping of names", what)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Value == "" {
			p.problem(k, "a key of %s must be a name", what)
			continue
		}
		if line, dup := seen[k.Value]; dup {
			p.problem(k, "%q is already mapped in line %d", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		fn(k, v)
	}
}

func (p *parser) section(n *yaml.Node, name string, fn func(k, v *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	p.pairs(n, name, func(k, v *yaml.Node) {
		if v.Kind != yaml.ScalarNode {
			p.problem(v, "%s of %q must be a name", name, k.Value)
			return
		}
		fn(k, v)
	})
}

func (p *parser) attribute(k, v *yaml.Node) {
	if loadtestAttribute([]byte(v.Value)) == NoAttribute {
		p.problem(v, "attribute %q: unknown name %q (see the loadtest.* names)", k.Value, v.Value)
		return
	}
	p.m.Attributes[k.Value] = v.Value
}

func (p *parser) metric(k, v *yaml.Node) {
	for _, r := range Roles() {
		if string(r) == v.Value {
			p.m.Metrics[k.Value] = r
			return
		}
	}
	p.problem(v, "metric %q: unknown role %q (known: %s)", k.Value, v.Value, join(Roles()))
}

func (p *parser) outcome(k, v *yaml.Node) {
	o, ok := sample.ParseOutcome(v.Value)
	if !ok {
		p.problem(v, "outcome %q: unknown outcome %q (known: %s)", k.Value, v.Value, join(outcomes()))
		return
	}
	p.m.Outcomes[k.Value] = o
}

func outcomes() []sample.Outcome {
	all := make([]sample.Outcome, sample.Outcomes)
	for i := range all {
		all[i] = sample.Outcome(i)
	}
	return all
}

func join[T any](names []T) string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = fmt.Sprint(n)
	}
	return strings.Join(s, ", ")
}

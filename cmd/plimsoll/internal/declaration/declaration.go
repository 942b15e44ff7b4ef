// Package declaration reads the declaration of a run from YAML or JSON (which
// is YAML), strictly: keys that do not exist are errors with their lines, all
// of them at once.
package declaration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// MaxBytes bounds a declaration.
const MaxBytes = 1 << 20

// Parse reads one declaration. The keys are those of the API.
func Parse(data []byte) (wire.Declaration, error) {
	var d wire.Declaration
	if len(data) > MaxBytes {
		return d, fmt.Errorf("larger than %d bytes", MaxBytes)
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return d, errors.New("the file is empty")
	} else if err != nil {
		return d, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return d, errors.New("more than one document")
	}
	if problems := keys(doc.Content[0], reflect.TypeFor[wire.Declaration](), "the file"); len(problems) > 0 {
		return d, errors.Join(problems...)
	}
	var tree any
	if err := doc.Decode(&tree); err != nil {
		return d, err
	}
	body, err := json.Marshal(tree)
	if err != nil {
		return d, fmt.Errorf("a key is not text: %w", err)
	}
	if err := json.Unmarshal(body, &d); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return d, fmt.Errorf("%s: a %s does not belong here", e.Field, e.Value)
		}
		return d, err
	}
	return d, nil
}

// keys walks a node beside the type that it is meant for and reports mappings
// with keys that the type does not have, and nodes of another shape.
func keys(n *yaml.Node, t reflect.Type, where string) []error {
	for n.Kind == yaml.AliasNode {
		return []error{fmt.Errorf("line %d: aliases are not taken", n.Line)}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var problems []error
	switch {
	case t.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return []error{fmt.Errorf("line %d: %s has to be a list", n.Line, where)}
		}
		for _, e := range n.Content {
			problems = append(problems, keys(e, t.Elem(), "an entry of "+where)...)
		}
	case t.Kind() == reflect.Struct && t.PkgPath() != "time":
		if n.Kind != yaml.MappingNode {
			return []error{fmt.Errorf("line %d: %s has to be keys with values", n.Line, where)}
		}
		fields := fieldsOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
			if at < 0 {
				problems = append(problems, fmt.Errorf("line %d: unknown key %q in %s (known: %s)", key.Line, key.Value, where, list(fields)))
				continue
			}
			problems = append(problems, keys(value, fields[at].typ, key.Value)...)
		}
	case n.Kind != yaml.ScalarNode:
		return []error{fmt.Errorf("line %d: %s has to be a single value", n.Line, where)}
	}
	return problems
}

type field struct {
	name string
	typ  reflect.Type
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, field{name, f.Type})
	}
	return fields
}

func list(fields []field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// document is the OpenAPI document, decoded.
type document struct{ root map[string]any }

func loadDocument(t *testing.T) *document {
	t.Helper()
	var d document
	if err := yaml.Unmarshal(api.Document(), &d.root); err != nil {
		t.Fatal(err)
	}
	return &d
}

func (d *document) ref(path string) map[string]any {
	var v any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "#/"), "/") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	m, _ := v.(map[string]any)
	return m
}

// check holds a JSON document against a schema of the document. It knows the
// keywords that the document uses, refuses others, and is stricter than JSON
// Schema in one thing: properties that are not named are refused.
func (d *document) check(schema string, body []byte) []string {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return []string{err.Error()}
	}
	var c checked
	c.value(d, d.ref("#/components/schemas/"+schema), v, "")
	return c.problems
}

type checked struct{ problems []string }

func (c *checked) add(at, format string, args ...any) {
	c.problems = append(c.problems, strings.TrimPrefix(at, ".")+": "+fmt.Sprintf(format, args...))
}

func (c *checked) value(d *document, schema map[string]any, v any, at string) {
	if schema == nil {
		c.add(at, "the schema is missing")
		return
	}
	if ref, ok := schema["$ref"].(string); ok {
		c.value(d, d.ref(ref), v, at)
		return
	}
	for keyword, arg := range schema {
		switch keyword {
		case "type":
			c.kind(arg, v, at)
		case "enum":
			if !slices.ContainsFunc(arg.([]any), func(e any) bool { return reflect.DeepEqual(e, v) }) {
				c.add(at, "is not one of %v", arg)
			}
		case "const":
			if arg != v {
				c.add(at, "is not %v", arg)
			}
		case "format":
			if s, ok := v.(string); ok {
				if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
					c.add(at, "is not a %v", arg)
				}
			}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			c.bound(keyword, arg, v, at)
		case "anyOf":
			c.anyOf(d, arg.([]any), v, at)
		case "items":
			list, _ := v.([]any)
			for i, e := range list {
				c.value(d, arg.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i))
			}
		case "required", "properties", "additionalProperties", "description", "default":
		default:
			c.add(at, "schema uses the unknown keyword %s", keyword)
		}
	}
	if object, ok := v.(map[string]any); ok {
		c.object(d, schema, object, at)
	}
}

func (c *checked) kind(arg, v any, at string) {
	kinds, ok := arg.([]any)
	if !ok {
		kinds = []any{arg}
	}
	number, isNumber := v.(float64)
	is := map[any]bool{"null": v == nil, "number": isNumber, "integer": isNumber && number == float64(int64(number))}
	_, is["string"] = v.(string)
	_, is["boolean"] = v.(bool)
	_, is["array"] = v.([]any)
	_, is["object"] = v.(map[string]any)
	if !slices.ContainsFunc(kinds, func(k any) bool { return is[k] }) {
		c.add(at, "is not of type %v", arg)
	}
}

func (c *checked) bound(keyword string, arg, v any, at string) {
	n, ok := v.(float64)
	if !ok {
		return
	}
	limit := reflect.ValueOf(arg).Convert(reflect.TypeFor[float64]()).Float()
	switch {
	case keyword == "minimum" && n < limit, keyword == "exclusiveMinimum" && n <= limit:
		c.add(at, "is below %v", arg)
	case keyword == "maximum" && n > limit, keyword == "exclusiveMaximum" && n >= limit:
		c.add(at, "is above %v", arg)
	}
}

func (c *checked) anyOf(d *document, schemas []any, v any, at string) {
	var last []string
	for _, s := range schemas {
		var one checked
		one.value(d, s.(map[string]any), v, at)
		if len(one.problems) == 0 {
			return
		}
		if v != nil && len(one.problems) > len(last) {
			last = one.problems
		}
	}
	c.add(at, "fits none of the schemas")
	c.problems = append(c.problems, last...)
}

func (c *checked) object(d *document, schema map[string]any, v map[string]any, at string) {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			c.add(at+"."+name.(string), "is missing")
		}
	}
	others, open := schema["additionalProperties"].(map[string]any)
	for name, e := range v {
		switch p, ok := properties[name].(map[string]any); {
		case ok:
			c.value(d, p, e, at+"."+name)
		case open:
			c.value(d, others, e, at+"."+name)
		case schema["anyOf"] == nil:
			c.add(at+"."+name, "is not in the schema")
		}
	}
}

// The document and the routes name the same paths and methods.
func TestDocumentMatchesRoutes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	want := map[string][]string{}
	for path, methods := range f.api.Paths() {
		want[strings.TrimSuffix(path, "{$}")] = methods
	}
	got := map[string][]string{}
	for path, item := range loadDocument(t).root["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				got[path] = append(got[path], strings.ToUpper(method))
			}
		}
		slices.Sort(got[path])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes and document differ (-routes +document):\n%s", diff)
	}
}

// Every parameter in the document is accepted, and no other is.
func TestDocumentMatchesParameters(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	d := loadDocument(t)
	good := map[string]string{
		"deadline_s": "2", "first_byte_deadline_s": "0.5", "from": "2026-11-30T10:00:00Z", "to": "2026-11-30T10:01:00Z", "scenario": "a", "source": "b",
		"max_points": "10", "names": "offered", "objective": "p99<1s", "limit": "2", "cursor": "orders-42", "q": "orders",
	}
	takes := regexp.MustCompile(`this call takes (?:no parameters|([a-z_, ]+))`)
	for path, item := range d.root["paths"].(map[string]any) {
		operation, ok := item.(map[string]any)["get"].(map[string]any)
		if !ok || !strings.HasPrefix(path, "/api/v1/runs") {
			continue
		}
		var documented []string
		list, _ := operation["parameters"].([]any)
		for _, p := range list {
			parameter := p.(map[string]any)
			if ref, ok := parameter["$ref"].(string); ok {
				parameter = d.ref(ref)
			}
			if parameter["in"] == "query" {
				documented = append(documented, parameter["name"].(string))
			}
		}
		url := strings.ReplaceAll(path, "{id}", "orders-42")
		for _, name := range documented {
			if status, _, body := f.do(t, "GET", url+"?"+name+"="+good[name], ""); status != 200 {
				t.Errorf("GET %s with %s=%s: %d %s", path, name, good[name], status, body)
			}
		}
		_, _, body := f.do(t, "GET", url+"?nonsense=1", "")
		var refused wire.Error
		if err := json.Unmarshal([]byte(body), &refused); err != nil {
			t.Fatalf("GET %s?nonsense=1: %v", path, err)
		}
		var known []string
		if m := takes.FindStringSubmatch(refused.Hint); m != nil && m[1] != "" {
			known = strings.Split(m[1], ", ")
		}
		slices.Sort(documented)
		slices.Sort(known)
		if diff := cmp.Diff(documented, known); diff != "" {
			t.Errorf("GET %s (-documented +known):\n%s", path, diff)
		}
	}
}

// The example in the documentation is a verdict as the schema has it.
func TestExampleFitsSchema(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../../docs/verdict.example.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range loadDocument(t).check("Verdict", body) {
		t.Error(problem)
	}
}

// The schemas and the Go types have the same fields, and a field is required
// unless it may be left out.
func TestDocumentMatchesTypes(t *testing.T) {
	t.Parallel()
	d := loadDocument(t)
	types := []any{
		wire.Error{},
		wire.RunList{},
		wire.RunItem{},
		wire.Deleted{},
		wire.Imported{},
		wire.Mark{},
		wire.Event{},
		wire.Declaration{},
		wire.Arrival{},
		wire.DeclareStep{},
		wire.Objective{},
		wire.SeriesAnswer{},
		wire.Spectrum{},
		wire.SpectrumPoint{},
		wire.Heatmap{},
		wire.LittleTable{},
		wire.LittleRow{},
		wire.GoodputCurve{},
		wire.GoodputStep{},
		wire.Comparison{},
		wire.ComparedRun{},
		wire.ComparedStep{},
		wire.Difference{},
		wire.Verdict{},
		wire.Horizon{},
		wire.Run{},
		wire.Estimate{},
		wire.Step{},
		wire.Balance{},
		wire.Counts{},
		wire.Response{},
		wire.Delay{},
		wire.InFlight{},
		wire.Stability{},
		wire.Little{},
		wire.LittleCheck{},
		wire.Queue{},
		wire.Source{},
		wire.Knee{},
		wire.Metastability{},
		wire.Signal{},
		wire.Audit{},
		wire.Held{},
		wire.Finding{},
	}
	seen := map[string]bool{"Outcome": true} // an enumeration, not a type
	for _, v := range types {
		typ := reflect.TypeOf(v)
		seen[typ.Name()] = true
		all, required := jsonFields(typ)
		schema := d.ref("#/components/schemas/" + typ.Name())
		properties, _ := schema["properties"].(map[string]any)
		got := slices.Sorted(maps.Keys(properties))
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("fields of %s (-type +document):\n%s", typ.Name(), diff)
		}
		var want []string
		list, _ := schema["required"].([]any)
		for _, name := range list {
			want = append(want, name.(string))
		}
		slices.Sort(want)
		switch typ.Name() { // what a request may leave out although an answer has it
		case "Declaration", "Mark":
			required = slices.DeleteFunc(required, func(name string) bool { return name == "id" || name == "at" })
		}
		if diff := cmp.Diff(slices.Concat([]string{}, required), slices.Concat([]string{}, want)); diff != "" {
			t.Errorf("required fields of %s (-type +document):\n%s", typ.Name(), diff)
		}
	}
	for name := range d.ref("#/components/schemas") {
		if !seen[name] {
			t.Errorf("schema %s has no type", name)
		}
	}
}

func jsonFields(t reflect.Type) (all, required []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			a, r := jsonFields(f.Type)
			all, required = append(all, a...), append(required, r...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return all, required
}

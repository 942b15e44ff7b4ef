package convention

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

func TestAttribute(t *testing.T) {
	t.Parallel()
	table := New(Mapping{Attributes: map[string]string{
		"loadgen.intended_start": "loadtest.intended_time_unix_nano", "http.status_code": "loadtest.step",
	}})
	check := func(key string, want Attribute) {
		t.Helper()
		if got := table.Attribute([]byte(key)); got != want {
			t.Errorf("%s: got %d, want %d", key, got, want)
		}
	}
	check("loadtest.run.id", RunID)
	check("loadtest.intended_time_unix_nano", IntendedTime)
	check("loadtest.intended_time_unix_nanos", NoAttribute)
	check("loadtest.", NoAttribute)
	check("loadgen.intended_start", IntendedTime)
	check("loadgen.intended_starT", NoAttribute)
	check("http.status_code", Step) // the mapping wins
	check("http.response.status_code", HTTPStatus)
	check("testid", RunAliasTestid)
	check("", NoAttribute)
	check(strings.Repeat("x", 1<<16), NoAttribute)
	seen := map[Attribute]bool{}
	for _, name := range builtinNames() {
		a := table.Attribute([]byte(name))
		if a == NoAttribute {
			t.Errorf("%s is not found", name)
		}
		seen[a] = true
	}
	for a := RunID; a <= SampleRatio; a++ {
		if !seen[a] && a != HTTPStatusOld { // which is mapped here
			t.Errorf("no name is listed for attribute %d", a)
		}
	}
	for a := RunAliasTestID; a <= RunAliasRunID; a++ {
		if !a.IsRunAlias() {
			t.Errorf("%d is no alias", a)
		}
	}
	if RunID.IsRunAlias() || Scenario.IsRunAlias() {
		t.Error("run id or scenario taken for an alias")
	}
}

func TestAttributeAllocs(t *testing.T) {
	table := New(Mapping{Attributes: map[string]string{"loadgen.intended_start": "loadtest.intended_time_unix_nano"}})
	keys := [][]byte{[]byte("loadtest.intended_time_unix_nano"), []byte("url.full"), []byte("loadgen.intended_start")}
	if n := testing.AllocsPerRun(100, func() {
		for _, k := range keys {
			table.Attribute(k)
		}
	}); n != 0 {
		t.Errorf("Attribute allocates %v times", n)
	}
}

func TestMapped(t *testing.T) {
	t.Parallel()
	table := New(Mapping{Metrics: map[string]Role{"orders.queue.depth": Queue, "vus": InFlight}})
	for name, want := range map[string]Role{"orders.queue.depth": Queue, "vus": InFlight, "vus_max": NoRole, "": NoRole} {
		if got := table.Mapped([]byte(name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, r := range Roles() {
		if r == NoRole || r.OfServers() == (r == Scheduled || r == Dropped) {
			t.Errorf("role %q: of servers %v", r, r.OfServers())
		}
	}
}

func TestParseMapping(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/otelgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseMapping(append(data, "\nrequests:\n  calls.took: end_ms\n"...))
	if err != nil {
		t.Fatal(err)
	}
	want := Mapping{
		Attributes: map[string]string{"loadgen.intended_start": "loadtest.intended_time_unix_nano", "loadgen.scenario": "loadtest.scenario"},
		Metrics:    map[string]Role{"orders.queue.depth": Queue},
		Outcomes:   map[string]sample.Outcome{"503": sample.Shed, "ETIMEDOUT": sample.Timeout},
		Requests:   map[string]Stamp{"calls.took": {Unit: 1e6, End: true}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, empty := range []string{"", "---\n", "# nothing\n", "attributes:\n", "{}"} {
		if _, err := ParseMapping([]byte(empty)); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func TestParseMappingProblems(t *testing.T) {
	t.Parallel()
	check := func(text string, want ...string) {
		t.Helper()
		_, err := ParseMapping([]byte(text))
		if err == nil {
			t.Errorf("%q: no error", text)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: error %q lacks %q", text, err, w)
			}
		}
	}
	check("atributes: {}\nmetrics:\n  a: qeue\noutcomes:\n  \"503\": sched\nattributes:\n  x: loadtest.intended\n",
		`line 1: unknown key "atributes"`, `line 3: metric "a": unknown role "qeue"`,
		`line 5: outcome "503": unknown outcome "sched"`, `line 7: attribute "x": unknown name "loadtest.intended"`)
	check("metrics:\n  a: queue\n  a: cpu\n", `line 3: "a" is already mapped in line 2`)
	check("- a\n", "line 1: the file must be a mapping")
	check("attributes: [a]\n", "line 1: attributes must be a mapping")
	check("attributes:\n  x:\n    y: z\n", `line 3: attributes of "x" must be a name`)
	check("attributes: {x: http.status_code}\n", "unknown name")
	check("metrics: {}\n---\nmetrics: {}\n", "only one document")
	check("requests:\n  a.b: ms\n", `line 2: request "a.b": unknown stamp "ms" (known: end_ms, end_ns,`)
	check("a: *b\n", "unknown anchor")
	check("metrics: {? [a] : queue}\n", "must be a name")
	check(strings.Repeat("#", maxMapping+1), "larger than")
	check("\tx", "read mapping")
}

func FuzzParseMapping(f *testing.F) {
	f.Add([]byte("attributes: {a: loadtest.scenario}\nmetrics: {b: queue}\noutcomes: {503: shed}\n"))
	f.Add([]byte("a: &x [*x]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMapping(data)
		if err != nil {
			return
		}
		table := New(m)
		for k := range m.Attributes {
			if table.Attribute([]byte(k)) == NoAttribute {
				t.Errorf("mapped attribute %q is not found", k)
			}
		}
		for k, r := range m.Metrics {
			if table.Mapped([]byte(k)) != r {
				t.Errorf("mapped metric %q is not found", k)
			}
		}
	})
}

func TestAppendSource(t *testing.T) {
	t.Parallel()
	check := func(id Identity, want string) {
		t.Helper()
		if got := string(AppendSource(nil, &id)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	b := func(s string) []byte { return []byte(s) }
	check(Identity{}, "unknown_service")
	check(Identity{Name: b("k6")}, "k6")
	check(Identity{Namespace: b("shop"), Name: b("load"), Instance: b("7"), Host: b("h"), PID: b("1")}, "shop/load@7")
	check(Identity{Name: b("load"), Host: b("h"), PID: b("1")}, "load@h:1")
	check(Identity{Name: b("load"), PID: b("1")}, "load@:1")
	check(Identity{Name: b("a\x00b\n\u202ec\xff")}, "a\ufffdb\ufffd\ufffdc\ufffd")
}

func TestAppendSafe(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 500)
	a, b := AppendSafe(nil, []byte(long+"a"), 100), AppendSafe(nil, []byte(long+"b"), 100)
	if len(a) > 100 || !utf8.Valid(a) {
		t.Errorf("cut to %d bytes: %q", len(a), a)
	}
	if string(a) == string(b) {
		t.Error("different strings became equal")
	}
	if got := string(AppendSafe([]byte("x"), []byte("grüße"), 100)); got != "xgrüße" {
		t.Errorf("got %q", got)
	}
	got := AppendAttribute(AppendAttribute(nil, []byte("a=b"), []byte("1,2")), []byte("c"), []byte(`=\`))
	if want := `a\=b=1\,2,c==\\`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKnownGenerator(t *testing.T) {
	t.Parallel()
	check := func(scope, service, want string) {
		t.Helper()
		if got, _ := KnownGenerator([]byte(scope), []byte(service)); got != want {
			t.Errorf("%s, %s: got %q, want %q", scope, service, got, want)
		}
	}
	check("k6", "orders-load", "k6")
	check("k6.browser", "", "k6")
	check("artillery-http", "orders-load", "artillery")
	check("Artillery.io_metrics", "", "artillery")
	check("opentelemetry.instrumentation.requests", "locust", "locust")
	check("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", "unknown_service:fortiotel", "fortio")
	check("captures/otelgen", "otelgen", "")
}

func BenchmarkAttribute(b *testing.B) {
	table := New(Mapping{Attributes: map[string]string{"loadgen.intended_start": "loadtest.intended_time_unix_nano"}})
	var keys [][]byte
	for _, k := range []string{
		"loadtest.scenario", "loadtest.intended_time_unix_nano", "http.request.method", "url.full",
		"server.address", "server.port", "network.protocol.version", "http.response.status_code",
	} {
		keys = append(keys, []byte(k))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, k := range keys {
			table.Attribute(k)
		}
	}
}

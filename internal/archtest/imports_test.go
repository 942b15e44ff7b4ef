package archtest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/internal/archtest"
)

const root = "../.."

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	files, err := archtest.Load(filepath.FromSlash(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("found %d Go files, want the whole module", len(files))
	}
	for _, breach := range archtest.Check(archtest.Module, files, archtest.Rules()) {
		t.Error(breach)
	}
}

// TestRulesCanFail shows that each ban is able to fail, and that what the
// architecture allows passes.
func TestRulesCanFail(t *testing.T) {
	t.Parallel()
	check := func(file, uses, want string) {
		t.Helper()
		f := archtest.File{Path: file, Test: strings.HasSuffix(file, "_test.go")}
		if call, ok := strings.CutPrefix(uses, "call:"); ok {
			f.Calls = []string{call}
		} else {
			f.Imports = []string{strings.Replace(uses, "./", archtest.Module+"/", 1)}
		}
		var got []string
		for _, breach := range archtest.Check(archtest.Module, []archtest.File{f}, archtest.Rules()) {
			got = append(got, breach.Rule.Name)
		}
		if (want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s uses %s: broken rules %q, want one with %q", file, uses, got, want)
		}
	}

	check("analysis/fold/a.go", "./collector/journal", "analysis knows nothing of intake")
	check("analysis/fold/a_test.go", "./collector/journal", "analysis knows nothing of intake")
	check("analysis/api/a.go", "./cmd/plimsoll", "analysis knows nothing of intake")
	check("collector/otlp/a.go", "./analysis/fold", "intake knows the vocabulary")
	check("collector/otlp/a.go", "./analysis/api/wire", "intake knows the vocabulary")
	check("collector/otlp/a.go", "./analysis/sample", "")
	check("collector/otlp/a_test.go", "./analysis/fold", "")
	check("collector/runs/a.go", "./analysis/fold", "")
	check("collector/runs/a.go", "./analysis/api/wire", "")
	check("collector/runs/a.go", "./analysis/stability", "fold.Evidence")
	check("collector/runs/a.go", "./analysis/api", "fold.Evidence")
	check("collector/batch/a.go", "./demo", "builds on a command")
	check("cmd/plimsoll/a.go", "./demo", "")
	check("cmd/plimsoll/a.go", "./analysis/verdict", "")
	check("plugin/pkg/plugin/a.go", "./analysis/api", "plugin knows only")
	check("plugin/pkg/plugin/a.go", "./analysis/api/wire", "")
	check("collector/loadtest/a.go", "./analysis/sample", "stand alone")
	check("collector/loadtest/a.go", "go.opentelemetry.io/otel", "")

	check("analysis/knee/a.go", "os", "pure packages")
	check("analysis/knee/a.go", "net/netip", "pure packages")
	check("analysis/knee/a.go", "log/slog", "pure packages")
	check("analysis/brandnew/a.go", "net/http", "pure packages")
	check("analysis/knee/a.go", "github.com/HdrHistogram/hdrhistogram-go", "pure packages")
	check("analysis/knee/a_test.go", "github.com/HdrHistogram/hdrhistogram-go", "")
	check("analysis/verdict/a.go", "./analysis/api", "pure packages")
	check("analysis/verdict/a.go", "./analysis/api/wire", "")
	check("analysis/verdict/a.go", "math", "")
	check("analysis/sample/a.go", "./analysis/fold", "row vocabulary")
	check("analysis/report/a.go", "net/http", "net/http in analysis")
	check("analysis/api/a.go", "net/http", "")
	check("collector/otlp/a.go", "./collector/influx", "do not know each other")
	check("collector/influx/a.go", "./collector/importer/k6", "do not know each other")
	check("collector/importer/a.go", "./collector/otlp", "do not know each other")
	check("collector/importer/a.go", "./collector/convention", "")
	check("cmd/plimsoll/a.go", "github.com/cockroachdb/pebble/v2", "Pebble")
	check("collector/journal/pebble/a.go", "github.com/cockroachdb/pebble/v2", "")
	check("collector/otlp/a.go", "go.opentelemetry.io/collector/pdata/ptrace", "pdata")
	check("collector/otlp/a_test.go", "go.opentelemetry.io/collector/pdata/ptrace", "")
	check("collector/runs/a.go", "call:time.Now", "come in as values")
	check("cmd/plimsoll/a.go", "call:time.Now", "")
	check("analysis/alert/a.go", "call:os.Getenv", "come in as values")
	check("analysis/sim/a.go", "math/rand/v2", "")
	check("analysis/sim/a.go", "call:math/rand/v2.New", "")
	check("analysis/sim/a.go", "call:math/rand/v2.Float64", "randomness")
	check("collector/otlp/a.go", "call:os.Exit", "end the process")
}

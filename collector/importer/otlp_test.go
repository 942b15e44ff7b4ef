package importer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/importer"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/otlp"
	"github.com/plimsoll/plimsoll/internal/captured"
)

// otlpFile imports an OTLP file and returns the rows by run.
func otlpFile(t *testing.T, text []byte, run string) (*importer.Report, map[string]int, error) {
	t.Helper()
	rows := map[string]int{}
	r, err := importer.Import(t.Context(), importer.Input{
		Name: "spans", Reader: bytes.NewReader(text), RunID: run, OTLP: otlp.NewDecoder(convention.Default()),
	}, func(_ context.Context, _ journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
		for _, b := range batches {
			rows[b.RunID] += b.Len()
		}
		return journal.Receipt{}, nil
	})
	return r, rows, err
}

// span is an export request in JSON with one span of a run.
func span(run string) string {
	id := ""
	if run != "" {
		id = `{"key":"loadtest.run.id","value":{"stringValue":"` + run + `"}},`
	}
	return `{"resourceSpans":[{"resource":{"attributes":[` + id + `{"key":"service.name","value":{"stringValue":"gen"}}]},` +
		`"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"GET","kind":3,` +
		`"startTimeUnixNano":"1796046100000000000","endTimeUnixNano":"1796046100020000000"}]}]}]}` + "\n"
}

func TestOTLPRuns(t *testing.T) {
	t.Parallel()
	r, rows, err := otlpFile(t, []byte(span("")+span("")), "")
	if err != nil || rows[r.RunID] != 2 || len(r.Runs) != 1 || !strings.HasPrefix(r.RunID, "spans-") {
		t.Errorf("no run: %+v, %v, %v", r, rows, err)
	}
	r, rows, err = otlpFile(t, []byte(span("a")+span("b")+span("a")), "")
	if err != nil || rows["a"] != 2 || rows["b"] != 1 || len(r.Runs) != 2 || r.RunID != "a" || len(r.Warnings) != 1 {
		t.Errorf("two runs: %+v, %v, %v", r, rows, err)
	}
	r, rows, err = otlpFile(t, []byte(span("a")+span("b")), "mine")
	if err != nil || rows["mine"] != 2 || r.RunID != "mine" {
		t.Errorf("one run by name: %+v, %v, %v", r, rows, err)
	}
	const logs = `{"resourceLogs":[]}` + "\n"
	r, rows, err = otlpFile(t, []byte(span("a")+logs+"{nonsense\n"+span("a")[:100]), "")
	if err != nil || rows["a"] != 1 || r.Bad != 1 || !r.Torn || len(r.Warnings) != 3 {
		t.Errorf("lines: %+v, %v, %v", r, rows, err)
	}
}

// Metrics of servers belong to no run.
func TestOTLPServers(t *testing.T) {
	t.Parallel()
	const queue = `{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},` +
		`"scopeMetrics":[{"metrics":[{"name":"http.server.active_requests","sum":{"aggregationTemporality":2,"dataPoints":` +
		`[{"timeUnixNano":"1796046100000000000","asInt":"5"}]}}]}]}]}` + "\n"
	r, _, err := otlpFile(t, []byte(queue), "")
	if err != nil || r.Points != 1 || len(r.Runs) != 0 || len(r.Warnings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Spans and metrics may stand in one file, and lengths may have four bytes.
func TestOTLPFraming(t *testing.T) {
	t.Parallel()
	spans := captured.Exports(t, "../otlp/testdata/otelgen-stall/otlp.traces.pb.gz")
	metrics := captured.Exports(t, "../../analysis/counts/testdata/k6-c-arrival-90.pb.gz")
	var four, vary []byte
	for i := range max(len(spans), len(metrics)) {
		for _, list := range [][][]byte{spans, metrics} {
			if i < len(list) {
				four = append(binary.BigEndian.AppendUint32(four, uint32(len(list[i]))), list[i]...)
				vary = append(binary.AppendUvarint(vary, uint64(len(list[i]))), list[i]...)
			}
		}
	}
	for what, text := range map[string][]byte{"four bytes": four, "varint": vary} {
		r, _, err := otlpFile(t, text, "")
		if err != nil || r.Format != "otlp-proto" || r.Rows != 2000 || r.Points < 400 || r.Bad != 0 {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
		r, _, err = otlpFile(t, text[:len(text)-10], "")
		if err != nil || !r.Torn {
			t.Errorf("%s, cut off: %+v, %v", what, r, err)
		}
	}
}

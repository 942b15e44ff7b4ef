package importer

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// kept is what an import handed on.
type kept struct {
	rows   []sample.Row
	groups []sample.Group // of each row
	points []sample.Point
	series []sample.Series // of each point
	ids    map[journal.ID]bool
	size   int // batches
}

func (k *kept) keep(_ context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
	if k.ids == nil {
		k.ids = map[journal.ID]bool{}
	}
	if k.ids[id] {
		return journal.Receipt{Duplicate: true}, nil
	}
	k.ids[id] = true
	for _, b := range batches {
		k.size++
		for i := range b.Sent {
			r := b.Row(i)
			k.rows, k.groups = append(k.rows, r), append(k.groups, b.Groups[r.Group])
		}
		for _, p := range b.Points {
			k.points, k.series = append(k.points, p), append(k.series, b.Series[p.Series])
		}
	}
	return journal.Receipt{}, nil
}

// dropped sums the arrivals that were dropped.
func (k *kept) dropped() (n float64) {
	for i, p := range k.points {
		if k.series[i].Name == dropsName {
			n += p.Value
		}
	}
	return n
}

// importText imports a text as a file of the name.
func importText(t testing.TB, name, text string) (*kept, *Report, error) {
	t.Helper()
	var k kept
	r, err := Import(t.Context(), Input{Name: name, Reader: strings.NewReader(text)}, k.keep)
	return &k, r, err
}

// importFile imports a file of testdata, whose format is found by content.
func importFile(t testing.TB, name string) (*kept, *Report) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var k kept
	r, err := Import(t.Context(), Input{Name: name, Reader: f}, k.keep)
	if err != nil {
		t.Fatalf("import %s: %v", name, err)
	}
	return &k, r
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// nothing decodes OTLP into nothing.
type nothing struct{}

func (nothing) Traces([]byte) ([]*sample.Batch, error)      { return nil, nil }
func (nothing) TracesJSON([]byte) ([]*sample.Batch, error)  { return nil, nil }
func (nothing) Metrics([]byte) ([]*sample.Batch, error)     { return nil, nil }
func (nothing) MetricsJSON([]byte) ([]*sample.Batch, error) { return nil, nil }

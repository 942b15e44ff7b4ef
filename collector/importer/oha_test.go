package importer

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestOha: 100/s through a stall of 500 ms with 5 connections. From when requests
// were due the percentiles are those that oha printed.
func TestOha(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "oha-stall.db.gz")
	if len(k.rows) != 500 || r.Grade() != "A" || k.outcomes()[sample.OK] != 500 || !r.warned("failed without an answer") {
		t.Fatalf("%d requests of grade %s: %q", len(k.rows), r.Grade(), r.Warnings)
	}
	response := make([]float64, len(k.rows))
	late := 0
	for i := range k.rows {
		row := &k.rows[i]
		response[i] = float64(row.Done-row.Intended) / 1e6
		if row.Sent-row.Intended > 50e6 {
			late++
		}
		if row.Sent/1e9 < 1796067081 || k.groups[i].Model != sample.Open {
			t.Fatalf("request %d: %+v", i, row)
		}
	}
	slices.Sort(response)
	for q, want := range map[float64]float64{0.5: 1.4297, 0.95: 305.2162, 0.99: 502.5971, 1: 539.2174} {
		if got := response[min(int(500*q), 499)]; math.Abs(got-want) > 0.001*want {
			t.Errorf("p%g is %g ms, want %g", 100*q, got, want)
		}
	}
	if late != 46 {
		t.Errorf("%d were late, want 46", late)
	}
}

// TestSQLiteDeep: small pages, so that there are inner pages and overflow; numbers
// that are whole; deleted rows; another table; two runs, of which the newest counts.
func TestSQLiteDeep(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "oha-deep.db.gz")
	if o := k.outcomes(); len(k.rows) != 247 || o[sample.Shed] != 24 || !r.warned("holds 2 runs") || r.Grade() != "A" {
		t.Fatalf("%d requests, %v, grade %s: %q", len(k.rows), o, r.Grade(), r.Warnings)
	}
	for i := range k.rows {
		if row := &k.rows[i]; row.Done-row.Sent != 2e9 || row.Sent-row.Intended != 0.25e9 || (row.Sent-1796001000e9)%0.5e9 != 0 {
			t.Fatalf("request %d: %+v", i, row)
		}
	}
}

func TestOhaCSV(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "oha-closed.csv.gz")
	if o := k.outcomes(); len(k.rows) != 300 || o[sample.Shed] != 15 || r.Grade() != "S" || !r.warned("--latency-correction") || r.Bad != 0 {
		t.Errorf("%d requests, %v, %d bad, grade %s: %q", len(k.rows), o, r.Bad, r.Grade(), r.Warnings)
	}
	if row := k.rows[0]; row.Done-row.Sent != 16551810 || row.FirstByte-row.Sent != 16551730 {
		t.Errorf("%+v", row)
	}
	if r.Span.To != endOfRun {
		t.Errorf("the run ends at %d, want %d", r.Span.To, endOfRun)
	}
}

func deep(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "oha-deep.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzSQLite: no damage hangs the reader or brings it down.
func FuzzSQLite(f *testing.F) {
	f.Add(deep(f)[:20<<10])
	f.Add([]byte(sqliteMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := openSQLite(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		root, _, err := db.table("oha")
		if err != nil {
			return
		}
		n := 0
		if err := db.rows(root, func([]sqliteValue) error { n++; return nil }); err != nil && !strings.Contains(err.Error(), "SQLite") {
			t.Errorf("after %d rows: %v", n, err)
		}
	})
}

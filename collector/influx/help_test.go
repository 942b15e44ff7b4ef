package influx

import (
	"bytes"
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/internal/captured"
)

// body is one write of a capture.
type body struct {
	target string // path and query
	lines  []byte
}

// capture reads what a real generator wrote: "# POST TARGET" and then the lines
// of the body, repeated.
func capture(t testing.TB, name string) []body {
	t.Helper()
	data := captured.Gunzip(t, filepath.Join("testdata", name+".lines.gz"))
	var out []body
	for part := range bytes.SplitSeq(data, []byte("# POST ")) {
		if len(part) == 0 {
			continue
		}
		target, lines, _ := bytes.Cut(part, []byte("\n"))
		out = append(out, body{string(target), lines})
	}
	return out
}

// about is what the address of a captured write says.
func (b *body) about(t testing.TB) *About {
	t.Helper()
	u, err := url.Parse(b.target)
	if err != nil {
		t.Fatal(err)
	}
	return &About{Database: u.Query().Get("db"), Sender: "127.0.0.1", Unit: 1, Now: 1_800_000_000e9}
}

// one decodes one body into one batch.
func one(t testing.TB, d *Decoder, lines ...string) *sample.Batch {
	t.Helper()
	batches := d.Decode([]byte(strings.Join(lines, "\n")), &About{Database: "load", Sender: "10.0.0.7", Unit: 1, Now: 1_800_000_000e9})
	if m := d.Report().Message(); m != "" {
		t.Fatal(m)
	}
	if len(batches) != 1 {
		t.Fatalf("%d batches", len(batches))
	}
	return batches[0]
}

// keeper is a sink that remembers.
type keeper struct {
	mu     sync.Mutex
	ids    map[journal.ID]bool
	rows   int
	points int
	err    error
	answer journal.Receipt
}

func (k *keeper) Accept(_ context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return journal.Receipt{}, k.err
	}
	if k.ids[id] {
		return journal.Receipt{Duplicate: true}, nil
	}
	if k.ids == nil {
		k.ids = map[journal.ID]bool{}
	}
	k.ids[id] = true
	for _, b := range batches {
		k.rows += b.Len()
		k.points += len(b.Points)
	}
	return k.answer, nil
}

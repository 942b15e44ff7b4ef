package importer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// vegetaRow is a line of Vegeta's CSV, the simplest of formats.
func vegetaRow(seq int, sent int64, latency int64, code string) string {
	return itoa(sent) + "," + code + "," + itoa(latency) + ",0,12,,,orders," + itoa(int64(seq)) + ",GET,http://a/,\n"
}

// attackOf is an attack at 100/s.
func attackOf(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(vegetaRow(i, 1796046100000000000+int64(i)*10e6, 2e6, "200"))
	}
	return b.String()
}

func TestImportTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	var k kept
	text := attackOf(20_000)
	first, err := Import(t.Context(), Input{Name: "a.csv", Reader: strings.NewReader(text)}, k.keep)
	if err != nil || first.Again() || first.Chunks != 40 || len(k.rows) != 20_000 {
		t.Fatalf("first: %+v, %v", first, err)
	}
	again, err := Import(t.Context(), Input{Name: "dir/a.csv", Reader: iotest.HalfReader(strings.NewReader(text))}, k.keep)
	if err != nil || !again.Again() || again.RunID != first.RunID || len(k.rows) != 20_000 {
		t.Errorf("again: %+v, %v", again, err)
	}
	// A file that has grown adds what is new, of the chunk that was not full too.
	more, err := Import(t.Context(), Input{Name: "a.csv", Reader: strings.NewReader(attackOf(30_000))}, k.keep)
	if err != nil || more.Again() || more.Duplicates != 39 || more.RunID != first.RunID {
		t.Errorf("grown: %+v, %v", more, err)
	}
	other, err := Import(t.Context(), Input{Name: "b.csv", Reader: strings.NewReader(text)}, k.keep)
	if err != nil || other.Again() {
		t.Errorf("another file: %+v, %v", other, err)
	}
}

func TestImportNamesWhatIsBad(t *testing.T) {
	t.Parallel()
	_, r, err := importText(t, "a.csv", attackOf(50)+"nonsense\n"+attackOf(50))
	if err != nil || r.Bad != 1 || r.Rows != 100 || !strings.HasPrefix(r.FirstBad, "line 51: ") || len(r.Warnings) < 2 {
		t.Errorf("one bad line: %+v, %v", r, err)
	}
	_, r, err = importText(t, "a.csv", attackOf(500)+strings.Repeat("nonsense\n", 200)+attackOf(500))
	if err == nil || !strings.Contains(err.Error(), "line 501: ") {
		t.Errorf("many bad lines: %+v, %v", r, err)
	}
	_, r, err = importText(t, "a.csv", attackOf(50)+vegetaRow(50, 1796046100500000000, 2e6, "200")[:30])
	if err != nil || r.Bad != 0 || !r.Torn || !r.Broken() || r.Rows != 50 {
		t.Errorf("torn: %+v, %v", r, err)
	}
	for _, text := range []string{"", "nonsense", "\x00\x01\x02"} {
		if _, _, err := importText(t, "a.txt", text); err == nil || !strings.Contains(err.Error(), "not recognised") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Import(t.Context(), Input{Format: "nonsense", Reader: strings.NewReader("x")}, discard); err == nil || !strings.Contains(err.Error(), "k6-json") {
		t.Errorf("unknown format: %v", err)
	}
}

func TestImportOfAPipeThatBreaks(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	text := attackOf(5000)
	r, err := Import(t.Context(), Input{Live: true, Reader: io.MultiReader(strings.NewReader(text[:len(text)-7]), iotest.ErrReader(broken))}, discard)
	if err != nil || !errors.Is(r.Truncated, broken) || !r.Broken() || r.Rows != 4999 {
		t.Errorf("%+v, %v", r, err)
	}
	if r.RunName != "vegeta-csv" || !strings.HasPrefix(r.RunID, "vegeta-csv-") {
		t.Errorf("run %q %q", r.RunID, r.RunName)
	}
}

// A pipe is read as it comes: rows are handed on while it is open.
func TestImportFollowsAPipe(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	seen := make(chan int64, 1000)
	done := make(chan error, 1)
	go func() {
		_, err := Import(t.Context(), Input{Live: true, Reader: r}, func(_ context.Context, _ journal.ID, b []*sample.Batch) (journal.Receipt, error) {
			seen <- int64(b[0].Len())
			return journal.Receipt{}, nil
		})
		done <- err
	}()
	if _, err := io.WriteString(w, attackOf(1200)); err != nil {
		t.Fatal(err)
	}
	if n := <-seen; n != 502 { // 5 s at 100/s, and the two around them
		t.Errorf("%d rows while the pipe is open", n)
	}
	w.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestImportStopsWhenItMust(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	_, err := Import(t.Context(), Input{Name: "a.csv", Reader: strings.NewReader(attackOf(20_000))},
		func(context.Context, journal.ID, []*sample.Batch) (journal.Receipt, error) {
			return journal.Receipt{}, full
		})
	if !errors.Is(err, full) {
		t.Errorf("full: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Import(ctx, Input{Name: "a.csv", Reader: strings.NewReader(attackOf(20_000))}, discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFormatsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range formats() {
		if f.Name == "" || f.Title == "" || f.Generator == "" || seen[f.Name] {
			t.Errorf("format %+v", f)
		}
		seen[f.Name] = true
		for _, head := range [][]byte{nil, {0}, []byte("{"), []byte("<"), bytes.Repeat([]byte{0xff}, 64)} {
			if f.Sniff(head) {
				t.Errorf("%s recognises %q", f.Name, head)
			}
		}
	}
}

package importer

import (
	"bytes"
	"encoding/gob"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// long is a file of any length: what repeats, and what stands around it.
type long struct {
	name             string // of the file, whose format it has
	head, body, tail []byte
	reader           func(times int) io.Reader // in place of all three
	counted          bool                      // what comes of it does not grow with it
	slow             int                       // how many times less of it is read
}

func (l *long) read(times int) io.Reader {
	if l.reader != nil {
		return l.reader(times)
	}
	return io.MultiReader(repeated(l.head, l.body, times), bytes.NewReader(l.tail))
}

// contents returns a file of testdata decompressed.
func contents(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := open(name, f, false)
	if err != nil {
		t.Fatal(err)
	}
	defer src.closing()
	b, err := io.ReadAll(src)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lined is a file whose lines repeat after so many lines of a header.
func lined(t testing.TB, name string, header int) *long {
	t.Helper()
	b, at := contents(t, name), 0
	for range header {
		at += bytes.IndexByte(b[at:], '\n') + 1
	}
	return &long{name: name, head: b[:at], body: b[at:]}
}

// listed is a document in which the elements of a list repeat; the list stands
// between two texts.
func listed(t testing.TB, name, before, after string) *long {
	t.Helper()
	b := contents(t, name)
	at := bytes.Index(b, []byte(before))
	if at < 0 {
		t.Fatalf("%s has no %s", name, before)
	}
	at += len(before)
	end := at + bytes.LastIndex(b[at:], []byte(after))
	elements := b[at:end]
	return &long{name: name, head: b[:at], body: append(bytes.Clone(elements), ','), tail: append(bytes.Clone(elements), b[end:]...)}
}

// gobs are the results of an attack as Vegeta encodes them.
func gobs(times int) io.Reader {
	type Result struct {
		Attack            string
		Seq               uint64
		Code              uint16
		Timestamp         time.Time
		Latency           time.Duration
		BytesOut, BytesIn uint64
		Error             string
		Body              []byte
		Method, URL       string
		Headers           http.Header
	}
	r, w := io.Pipe()
	go func() {
		enc := gob.NewEncoder(w)
		for i := range times * 1000 {
			err := enc.Encode(&Result{
				Attack: "orders", Seq: uint64(i), Code: 200, Timestamp: time.Unix(1796046000, int64(i)*10e6).UTC(), Latency: 5 * time.Millisecond,
				BytesIn: 12, Body: []byte(`{"ok":true}`), Method: "POST", URL: "http://127.0.0.1:8080/orders",
				Headers: http.Header{"Content-Type": {"application/json"}, "Date": {"Mon, 30 Nov 2026 12:00:00 GMT"}},
			})
			if err != nil {
				return // the reader has gone
			}
		}
		w.Close()
	}()
	return r
}

func counted(l *long) *long {
	l.counted = true
	return l
}

func longFiles(t testing.TB) []*long {
	t.Helper()
	otlpBody := contents(t, "../../otlp/testdata/otelgen-stall/otlp.traces.pb.gz")
	text := openSimulation(4000, 3)
	files := []*long{
		lined(t, "k6/c-arrival-90.json.zst", 0),
		counted(lined(t, "k6/j-system-tags.csv.zst", 1)),
		{name: "k6.csv", head: []byte(k6Header), body: k6Nanos()},
		lined(t, "vegeta/stall-100.csv.zst", 0),
		lined(t, "vegeta/stall-100.json.zst", 0),
		{name: "results.bin", reader: gobs},
		{name: "a.jtl", head: []byte(jtlHead), body: []byte(strings.Repeat(jtlLine(jtlBase, 20, "users 1-1")+jtlLine(jtlBase+25, 30, "users 1-2"), 500))},
		{name: "simulation.log", body: []byte(text.text(false))},
		{name: "otlp.pb", body: otlpBody},
		lined(t, "h2load-orders.log.gz", 0), lined(t, "hey-orders-90.csv.gz", 1), lined(t, "oha-closed.csv.gz", 1), lined(t, "locust-requests.csv", 1),
		lined(t, "fortio-stall-access.json.gz", 0), lined(t, "aiperf-poisson.jsonl.gz", 0), lined(t, "tsung-orders.dump.gz", 1),
		lined(t, "locust-orders_stats_history.csv", 1), counted(lined(t, "ab-orders.tsv.gz", 1)),
		listed(t, "ghz-over.json.gz", `"details":[`, `]`),
		listed(t, "guidellm-over.json.gz", `"successful": [`, `], "errored": [`),
	}
	xml := contents(t, "jmeter/stall.jtl.zst")
	from, to := bytes.Index(xml, []byte("<httpSample")), bytes.LastIndex(xml, []byte("</testResults>"))
	files = append(files, &long{name: "stall.jtl", head: xml[:from], body: xml[from:to], tail: xml[to:]})
	raw := contents(t, "ycsb-raw.txt")
	hdr := lined(t, "ycsb-read.hdr", 4)
	hdr.slow = 10
	files = append(files, hdr)
	return append(files, &long{name: "ycsb-raw.txt", head: raw, body: bytes.Repeat([]byte("READ,1796076863345,7337\n"), 1000)})
}

// TestMemoryIsConstant: a file six times as long takes no more memory. The formats
// that are not here hold a bounded number of values (summaries), or as docs/import.md
// says (vLLM's arrays), or are read page by page from a file (SQLite).
func TestMemoryIsConstant(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 2 GB")
	}
	for _, l := range longFiles(t) {
		t.Run(strings.ReplaceAll(l.name, "/", "_"), func(t *testing.T) {
			size := len(l.body)
			if l.reader != nil {
				size = 250_000 // of a thousand results
			}
			times := 12_000_000/max(l.slow, 1)/size + 1
			small, rows := peakHeap(t, l, times)
			large, more := peakHeap(t, l, 6*times)
			if !l.counted && more < 5*rows || rows == 0 {
				t.Errorf("%d rows and points, %d of six times the file", rows, more)
			}
			if large > 2*small+(16<<20) {
				t.Errorf("%d MiB for six times the file, %d MiB for the file", large>>20, small>>20)
			}
		})
	}
}

// peakHeap imports a file and returns the largest heap that was seen meanwhile.
func peakHeap(t *testing.T, l *long, times int) (peak uint64, rows int64) {
	t.Helper()
	runtime.GC()
	look := func(*Report) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}
	n := 0
	src := l.read(times)
	r, err := Import(t.Context(), Input{
		Name: l.name, Reader: &watched{r: src, look: func() {
			if n++; n%64 == 0 {
				look(nil)
			}
		}}, Written: endOfRun, OTLP: &spans{}, Progress: func(r *Report) {
			if r.Chunks%64 == 0 {
				look(r)
			}
		},
	}, discard)
	if err != nil {
		t.Fatal(err)
	}
	look(nil)
	return peak, r.Rows + r.Points
}

// watched calls look before each read.
type watched struct {
	r    io.Reader
	look func()
}

func (w *watched) Read(b []byte) (int, error) {
	w.look()
	return w.r.Read(b)
}

// spans stands in for the decoder of OTLP, which another package has: one row for
// each message.
type spans struct{ b sample.Batch }

func (s *spans) batch() ([]*sample.Batch, error) {
	s.b.Reset()
	s.b.RunID = "otlp"
	s.b.GroupIndex(&sample.Group{Source: "a"})
	s.b.Append(sample.Row{Sent: 1796046000e9, Done: 1796046001e9, Index: sample.NoIndex})
	return []*sample.Batch{&s.b}, nil
}

func (s *spans) Traces([]byte) ([]*sample.Batch, error)      { return s.batch() }
func (s *spans) TracesJSON([]byte) ([]*sample.Batch, error)  { return s.batch() }
func (s *spans) Metrics([]byte) ([]*sample.Batch, error)     { return s.batch() }
func (s *spans) MetricsJSON([]byte) ([]*sample.Batch, error) { return s.batch() }

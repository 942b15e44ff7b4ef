package importer

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// seed is how much of a file seeds the fuzzer.
const seed = 4 << 10

// FuzzFurther reads anything as any of the further formats: whatever it is, the
// import ends, rows never end before they begin, and distributions hold together.
func FuzzFurther(f *testing.F) {
	all := further()
	files(f, func(path string) {
		if filepath.Dir(path) != "testdata" {
			return // of the leading formats
		}
		names, _ := formatOf(f, path)
		for i := range all {
			if len(names) == 1 && all[i].Name == names[0] {
				f.Add(uint8(i), plainHead(f, path))
			}
		}
	})
	f.Fuzz(func(t *testing.T, format uint8, b []byte) {
		var k kept
		_, err := Import(t.Context(), Input{
			Name: "f", Reader: bytes.NewReader(b), Format: all[int(format)%len(all)].Name, Written: endOfRun,
		}, k.keep)
		if err != nil && !strings.Contains(err.Error(), ": ") {
			t.Errorf("error says too little: %v", err)
		}
		for i := range k.rows {
			if row := &k.rows[i]; row.Done < row.Sent || row.Sent <= 0 {
				t.Fatalf("request %d: %+v", i, row)
			}
		}
		for i := range k.points {
			checkDistribution(t, k.points[i].Histogram)
		}
	})
}

func checkDistribution(t *testing.T, d *sample.Distribution) {
	t.Helper()
	if d == nil {
		return
	}
	var n uint64
	for _, c := range d.Buckets {
		n += c
	}
	if len(d.Buckets) != len(d.Bounds)+1 || n != d.Count {
		t.Fatalf("%d bounds, %d buckets that hold %d of %d", len(d.Bounds), len(d.Buckets), n, d.Count)
	}
	for i := 1; i < len(d.Bounds); i++ {
		if !(d.Bounds[i] > d.Bounds[i-1]) {
			t.Fatalf("bounds %v do not rise", d.Bounds)
		}
	}
}

// plainHead is the decompressed beginning of a file.
func plainHead(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := open("f", f, false)
	if err != nil {
		t.Fatal(err)
	}
	defer src.closing()
	b, err := io.ReadAll(io.LimitReader(src, seed))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzHdrDecode reads anything as a histogram of a log.
func FuzzHdrDecode(f *testing.F) {
	for _, name := range []string{"jHiccup-2.0.7S.logV2.hlog", "jHiccup-2.0.6.logV1.hlog", "jHiccup-2.0.1.logV0.hlog"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		last := lines[len(lines)-1]
		f.Add([]byte(last[strings.LastIndexByte(last, ',')+1:]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if d, _, err := hdrBars(text, 1e-9); err == nil {
			checkDistribution(t, d)
		}
	})
}

package batch

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// same compares batches to the bit; empty and nil slices are equal.
var same = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
}

func checkRoundTrip(t interface {
	Helper()
	Fatalf(string, ...any)
}, into, b *sample.Batch,
) {
	t.Helper()
	data := Append([]byte("before"), b)
	if !bytes.HasPrefix(data, []byte("before")) {
		t.Fatalf("Append changed what stood before")
	}
	data = data[len("before"):]
	if err := Decode(into, data); err != nil {
		t.Fatalf("decode: %v", err)
	}
	if diff := cmp.Diff(b, into, same); diff != "" {
		t.Fatalf("round trip changed the batch (-want +got):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	into := &sample.Batch{} // shared by all cases: reuse must not leak
	for name, b := range map[string]*sample.Batch{
		"empty":     {},
		"names":     {RunID: sample.Telemetry, RunName: "a run\x00\xff"},
		"grade A":   gradeA(rand.New(rand.NewPCG(1, 2)), 1000),
		"one row":   gradeA(rand.New(rand.NewPCG(1, 3)), 1),
		"ms":        inUnit(gradeA(rand.New(rand.NewPCG(1, 4)), 700), 1e6),
		"µs":        inUnit(gradeA(rand.New(rand.NewPCG(1, 5)), 700), 1e3),
		"extremes":  extremes(),
		"metrics":   metrics(),
		"no points": {Series: []sample.Series{{Name: "unused", Kind: sample.DeltaHisto}}},
	} {
		t.Run(name, func(t *testing.T) { checkRoundTrip(t, into, b) })
	}
}

func TestRoundTripProperty(t *testing.T) {
	t.Parallel()
	into := &sample.Batch{}
	rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, into, drawBatch(t)) })
}

// TestColumnForms drives every form of a column of few values.
func TestColumnForms(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	check := func(form byte, values, n int, spread int) {
		t.Helper()
		col := make([]int16, n)
		for i := range col {
			col[i] = int16(rng.IntN(values) * spread)
		}
		data := appendSmall(nil, col)
		if data[0] != form {
			t.Errorf("%d values in %d rows have form %d, want %d", values, n, data[0], form)
		}
		got := make([]int16, n)
		r := &reader{data: data}
		if readSmall(r, got); r.err != nil || len(r.data) > 0 {
			t.Fatalf("read form %d: %v, %d bytes left", form, r.err, len(r.data))
		}
		if diff := cmp.Diff(col, got); diff != "" {
			t.Errorf("form %d (-want +got):\n%s", form, diff)
		}
	}
	check(formRuns, 1, 1, 9)
	check(formRuns, 1, 5000, 9)
	check(formPack1, 2, 999, 32767)
	check(formPack2, 4, 1001, -200)
	check(formPack4, 16, 1003, 7)
	check(formRaw8, 200, 1003, 1)
	check(formRaw16, 200, 1003, 100)
}

func TestReuseAllocatesNothing(t *testing.T) {
	b := gradeA(rand.New(rand.NewPCG(1, 2)), 512)
	var data []byte
	into := &sample.Batch{}
	if n := testing.AllocsPerRun(100, func() {
		data = Append(data[:0], b)
		if err := Decode(into, data); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("encoding and decoding again allocates %v times", n)
	}
}

func TestBytesPerRow(t *testing.T) {
	t.Parallel()
	b := gradeA(rand.New(rand.NewPCG(1, 2)), 512)
	if got := float64(len(Append(nil, b))) / 512; got > 11.5 {
		t.Errorf("a grade A row takes %.2f bytes, want at most 11.5", got)
	}
}

func TestAppendRefusesRaggedColumns(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("Append took columns of different length")
		}
	}()
	Append(nil, &sample.Batch{Sent: make([]int64, 2), Done: make([]int64, 1)})
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	good := Append(nil, gradeA(rand.New(rand.NewPCG(1, 2)), 600))
	check := func(data []byte, want string) {
		t.Helper()
		b := gradeA(rand.New(rand.NewPCG(3, 4)), 3)
		err := Decode(b, data)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one about %q", err, want)
		}
		if !b.Empty() || len(b.Groups) > 0 {
			t.Error("the batch is not empty after an error")
		}
	}
	check(nil, "cut short")
	check([]byte{99}, "unknown version 99")
	check([]byte{version, 0xff, 0xff, 0x7f}, "unknown columns")
	check(append(bytes.Clone(good), 0), "1 bytes are left over")
	huge := []byte{version, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}
	check(huge, "4294967295 rows do not fit the 0 bytes left")
	for n := range good {
		if Decode(&sample.Batch{}, good[:n]) == nil {
			t.Fatalf("the first %d of %d bytes decode", n, len(good))
		}
	}
	outOfRange := gradeA(rand.New(rand.NewPCG(1, 2)), 9)
	outOfRange.Group[4] = 4
	check(Append(nil, outOfRange), "a row of group 4 where there are 4")
	outOfRange.Group[4], outOfRange.Outcome[3] = 0, sample.Outcomes
	check(Append(nil, outOfRange), "unknown outcome 5")
	points := metrics()
	points.Points[1].Series = 77
	check(Append(nil, points), "a point of series 77")
}

package importer

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const vegetaBegin = int64(1796046100000000000)

// attackAt is an attack whose sends happen at the given ns after its begin.
func attackAt(sends []int64) string {
	var b strings.Builder
	for i, at := range sends {
		b.WriteString(vegetaRow(i, vegetaBegin+at, 2e6, "200"))
	}
	return b.String()
}

func TestVegetaFindsTheRate(t *testing.T) {
	t.Parallel()
	check := func(what string, sends []int64, want float64) {
		t.Helper()
		k, r, err := importText(t, "a.csv", attackAt(sends))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, last := k.groups[0].Rate, k.groups[len(k.groups)-1].Rate
		if math.Abs(got-want) > 1e-9*want || last != got && want != 0 {
			t.Errorf("%s: rate %v, at the end %v; want %v (%v)", what, got, last, want, r.Warnings)
		}
		for i, row := range k.rows {
			if row.Index != int64(i) {
				t.Fatalf("%s: row %d has index %d", what, i, row.Index)
			}
		}
	}
	// Sends are a little late, some much, and some wait for a worker.
	late := func(i int) int64 {
		switch {
		case i%97 == 0:
			return 30e6
		case i%10 == 3:
			return 3e6
		}
		return int64(i*7919%200) * 1e3
	}
	at := func(n int, gap float64) (sends []int64) {
		for i := range n {
			sends = append(sends, int64(float64(i)*gap)+late(i))
		}
		return sends
	}
	check("90/s", at(1800, 1e9/90), 90)
	check("1000/s", at(20_000, 1e6), 1000)
	check("7/m", at(60, 60e9/7), 7.0/60)
	check("33333/s", at(300_000, 1e9/33333), 33333)
	stalled := at(1800, 1e9/90)
	for i := range stalled { // all workers are held for 2 s; then it catches up
		if s := stalled[i]; s > 1e9 && s < 3e9 {
			stalled[i] = 3e9 + int64(i)*1e3
		}
	}
	check("stall", stalled, 90)
	check("too few", at(10, 1e9/90), 0)
	var up, sine []int64
	for i := range 3000 { // 50/s, one more every second; 100/s ± 50/s
		up = append(up, int64(1e9*(math.Sqrt(2500+2*float64(i))-50)))
		sine = append(sine, int64(1e9*(float64(i)/100+0.3*math.Sin(float64(i)/100))))
	}
	check("ramp", up, 0)
	check("sine", sine, 0)
}

// A rate that changes after it was found is given up before it does harm.
func TestVegetaGivesTheRateUp(t *testing.T) {
	t.Parallel()
	for _, gap := range []float64{5e6, 20e6} {
		var sends []int64
		for i := range 1000 {
			sends = append(sends, int64(i)*10e6)
		}
		for i := range 3000 {
			sends = append(sends, sends[999]+int64(float64(i+1)*gap))
		}
		k, r, err := importText(t, "a.csv", attackAt(sends))
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for i, g := range k.groups {
			if g.Rate != 0 {
				last = i
			}
		}
		if k.groups[0].Rate != 100 || last > 1000+1100 || len(r.Warnings) != 2 {
			t.Errorf("gap %v: the rate holds until request %d; %v", gap, last, r.Warnings)
		}
	}
}

func TestVegetaTellsAttacksApart(t *testing.T) {
	t.Parallel()
	one := attackOf(1000)
	later := strings.ReplaceAll(strings.ReplaceAll(one, "17960461", "17960471"), ",orders,", ",orders,")
	k, _, err := importText(t, "a.csv", one+later)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range k.groups {
		if !slices.Contains(names, g.Scenario) {
			names = append(names, g.Scenario)
		}
	}
	if !slices.Equal(names, []string{"orders", "orders (2)"}) {
		t.Errorf("scenarios %q", names)
	}
}

func TestVegetaOutcomes(t *testing.T) {
	t.Parallel()
	at := vegetaBegin
	line := func(code, failure string) string {
		at += 1e6
		return itoa(at) + "," + code + ",2000000,0,12," + failure + ",,orders,0,GET,http://a/,\n"
	}
	text := line("200", "") + line("302", "") + line("404", "404 Not Found") + line("503", "503 Service Unavailable") +
		line("0", `"Get ""http://a/"": dial tcp: i/o timeout"`) + line("0", `"Get ""http://timeout/"": EOF"`) +
		line("504", "504 Gateway Timeout")
	k, r, err := importText(t, "a.csv", text)
	if err != nil || r.Bad > 0 {
		t.Fatal(err, r.FirstBad)
	}
	want := []sample.Outcome{sample.OK, sample.OK, sample.Error, sample.Shed, sample.Timeout, sample.Error, sample.Timeout}
	for i, row := range k.rows {
		if row.Outcome != want[i] {
			t.Errorf("row %d: %v, want %v", i, row.Outcome, want[i])
		}
	}
}

// All three encodings of an attack say the same.
func TestVegetaEncodingsAgree(t *testing.T) {
	t.Parallel()
	gob, _ := importFile(t, "vegeta/stall-100.bin.zst")
	for _, name := range []string{"vegeta/stall-100.csv.zst", "vegeta/stall-100.json.zst"} {
		if k, _ := importFile(t, name); !slices.Equal(k.rows, gob.rows) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestVegetaGobCutOff(t *testing.T) {
	t.Parallel()
	b := contents(t, "vegeta/stall-100.bin.zst")
	_, r, err := importText(t, "a.bin", string(b[:len(b)-40]))
	if err != nil || !r.Torn || r.Rows != 1999 {
		t.Errorf("cut off: %+v, %v", r, err)
	}
	broken := append(slices.Clone(b[:20_000]), b[20_010:]...)
	if _, r, err = importText(t, "a.bin", string(broken)); err == nil || !strings.Contains(err.Error(), "offset") {
		t.Errorf("broken: %+v, %v", r, err)
	}
}

package importer

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/counts"
)

// TestHdrDecode reads what hdrhistogram-go writes, and compares bar by bar.
func TestHdrDecode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lowest := rapid.Int64Range(1, 1000).Draw(t, "lowest")
		h := hdrhistogram.New(lowest, rapid.Int64Range(1e6, 1e12).Draw(t, "highest"), rapid.IntRange(1, 5).Draw(t, "digits"))
		var want uint64
		for _, v := range rapid.SliceOfN(rapid.Int64Range(0, 1e6), 1, 50).Draw(t, "values") {
			n := rapid.Int64Range(1, 1e5).Draw(t, "n")
			if err := h.RecordValues(v, n); err != nil {
				t.Fatal(err)
			}
			want += uint64(n)
		}
		text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		d, sum, err := hdrBars(text, 1)
		if err != nil || d.Count != want {
			t.Fatalf("%d of %d values: %v", d.Count, want, err)
		}
		if mean := h.Mean() * float64(want); math.Abs(sum-mean) > 1e-3*mean+float64(lowest)*float64(want) {
			t.Fatalf("sum %g, want %g", sum, mean)
		}
		for _, bar := range h.Distribution() {
			if bar.Count == 0 {
				continue
			}
			i := 0
			for d.Bounds[i] != float64(bar.To+1) {
				i++
			}
			if int64(d.Buckets[i]) != bar.Count || d.Bounds[i-1] != float64(bar.From) {
				t.Fatalf("bar %v is (%g, %g] with %d", bar, d.Bounds[i-1], d.Bounds[i], d.Buckets[i])
			}
		}
	})
}

// TestHdrLogs: in logs of all versions the largest value of an interval is the
// one that the log states.
func TestHdrLogs(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]float64{
		"jHiccup-2.0.7S.logV2.hlog": 1e-9, "jHiccup-2.0.6.logV1.hlog": 1e-9, "jHiccup-2.0.1.logV0.hlog": 1e-9, "ycsb.logV1.hlog": 1e-6,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			f := strings.Split(s.Text(), ",")
			if len(f) != 4 || strings.HasPrefix(f[0], `"`) || strings.HasPrefix(f[0], "#") {
				continue
			}
			stated, err := strconv.ParseFloat(f[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			d, _, err := hdrBars([]byte(f[3]), unit)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			last := len(d.Bounds) - 1
			if lo, hi := d.Bounds[last-1]/unit/1e6, d.Bounds[last]/unit/1e6; stated < lo-0.001 || stated > hi+0.001 {
				t.Errorf("%s: the largest value is in (%g, %g], the log says %g", name, lo, hi, stated)
			}
			n++
		}
		k, r := importUndated(t, name)
		in := k.input(t)
		if len(in.Intervals) != n || r.Bad > 0 || r.Grade() != "F" {
			t.Errorf("%s: %d of %d intervals, %d bad", name, len(in.Intervals), n, r.Bad)
		}
		if s := counts.ServiceTimes(in); s.Buckets.Count() != in.Totals().Ended || counts.ResponseTimes(in).Buckets != nil {
			t.Errorf("%s: %g times for %g operations", name, s.Buckets.Count(), in.Totals().Ended)
		}
	}
}

// TestHdrMerge: histograms of intervals with other values in each keep their bars
// when they are added up.
func TestHdrMerge(t *testing.T) {
	t.Parallel()
	k, _ := importUndated(t, "ycsb.logV1.hlog")
	in := k.input(t)
	b, ok := counts.ServiceTimes(in).Buckets.Quantile(0.99)
	if !ok || b.Hi-b.Lo > 0.001*b.Lo {
		t.Errorf("p99 of all intervals is in (%g, %g]", b.Lo, b.Hi)
	}
}

func TestHdrIntended(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "ycsb.logV1.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	k, r, err := importText(t, "Intended-READ.hdr", strings.Replace(string(text), "for: READ", "for: Intended-READ", 1))
	if err != nil {
		t.Fatal(err)
	}
	in := k.input(t)
	if s, x := counts.ServiceTimes(in), counts.ResponseTimes(in); s.Buckets != nil || x.Buckets.Count() != in.Totals().Ended || !r.warned("grade X") {
		t.Errorf("corrected times are not apart: %v, %v, %q", s.Buckets, x.Buckets, r.Warnings)
	}
}

func TestHdrTags(t *testing.T) {
	t.Parallel()
	k, _ := importUndated(t, "tagged-Log.logV2.hlog")
	streams := map[string]int{}
	for _, s := range k.series {
		streams[s.Attributes]++
	}
	if streams[""] != 10 || streams["loadtest.scenario=A"] != 10 {
		t.Errorf("streams %v", streams)
	}
}

// TestHdrDamaged: no damage brings the reader down.
func TestHdrDamaged(t *testing.T) {
	t.Parallel()
	h := hdrhistogram.New(1, 1e9, 3)
	for i := range int64(1000) {
		if err := h.RecordValue(i * i); err != nil {
			t.Fatal(err)
		}
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for _, flip := range []byte{1, 0x80, 0xff} {
			broken := bytes.Clone(raw)
			broken[i] ^= flip
			if d, _, err := hdrBars([]byte(base64.StdEncoding.EncodeToString(broken)), 1); err == nil && d.Count != 1000 && i >= 8 {
				t.Errorf("byte %d changed by %#x: %d values", i, flip, d.Count)
			}
		}
	}
	if _, _, err := hdrBars([]byte(base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, hdrCookies+4))), 1); err == nil {
		t.Error("a cookie alone is taken for a histogram")
	}
}

package influx

import (
	"bytes"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// FuzzDecode decodes anything, twice and doubled: rows make sense, and depend on
// the body alone.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(good+"cpu v=1"), int64(1))
	f.Add([]byte("http_req_duration,scenario=a,status=200 value=50 1796065843941483903\nhttp_req_blocked,scenario=a value=0.5 1796065843941483903"), int64(1))
	f.Add([]byte("dropped_iterations value=1 1796065843\nvus value=3 1796065843"), int64(1e9))
	f.Add([]byte(`latency,thread=0,ok=true value=0.04,details="2\"00" `+stamp), int64(1))
	f.Add([]byte("jmeter,transaction=all,statut=all count=4,countError=1 "+stamp+"\njmeter,transaction=internal maxAT=3 "+stamp), int64(1))
	f.Add([]byte("call,result=no,run=\\,\\ \\= took=1e300,planned_ns=5i\nloadtest.arrivals.dropped value=3"), int64(1e6))
	m, err := convention.ParseMapping([]byte("metrics: {depth: queue}\nrequests: {call.took: end_s}\nattributes: {planned_ns: loadtest.intended_time_unix_nano}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, unit int64) {
		if unit <= 0 {
			return
		}
		about := &About{Database: "x", Unit: unit, Now: 1_796_065_900e9}
		d := NewDecoder(convention.New(m))
		count := func(body []byte) (rows, points, lines int) {
			for _, b := range d.Decode(body, about) {
				check(t, b)
				rows, points = rows+b.Len(), points+len(b.Points)
			}
			return rows, points, int(d.Report().Lines)
		}
		rows, points, lines := count(body)
		if r, p, l := count(body); r != rows || p != points || l != lines {
			t.Fatalf("the same body: %d rows, %d points, %d lines, then %d, %d, %d", rows, points, lines, r, p, l)
		}
		if bytes.IndexByte(body, '"') < 0 {
			if r, _, l := count(append(append(bytes.Clone(body), '\n'), body...)); r < 2*rows-1 || l > 2*lines+1 {
				t.Fatalf("twice the body: %d rows of %d, %d lines of %d", r, rows, l, lines)
			}
		}
	})
}

func check(t *testing.T, b *sample.Batch) {
	t.Helper()
	for i := range b.Len() {
		r := b.Row(i)
		if r.Done < r.Sent || int(r.Group) >= len(b.Groups) || r.FirstByte != 0 && (r.FirstByte < r.Sent || r.FirstByte > r.Done) || r.Outcome >= sample.Outcomes {
			t.Fatalf("row %+v", r)
		}
	}
	for _, p := range b.Points {
		if int(p.Series) >= len(b.Series) || !plausible(p.Time) || p.Value != p.Value {
			t.Fatalf("point %+v", p)
		}
	}
}

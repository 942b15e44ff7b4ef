package importer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const (
	jtlHead = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
	jtlBase = int64(1796046891967)
)

func jtlLine(at, elapsed int64, thread string) string {
	return fmt.Sprintf("%d,%d,GET /,200,OK,%s,text,true,,120,180,5,5,http://a/,%d,0,1\n", at, elapsed, thread, elapsed/2)
}

// closedJTL is what three threads do in a loop.
func closedJTL(n int) string {
	var b strings.Builder
	at := [3]int64{jtlBase, jtlBase + 3, jtlBase + 7}
	for i := range n {
		t := i % 3
		b.WriteString(jtlLine(at[t], 20+int64(i%5), fmt.Sprintf("shoppers 1-%d", t+1)))
		at[t] += 22 + int64(i%5)
	}
	return b.String()
}

// The header may have any order, quotes and separator, or be missing.
func TestJTLColumns(t *testing.T) {
	t.Parallel()
	want, _, err := importText(t, "a.jtl", jtlHead+closedJTL(300))
	if err != nil || len(want.rows) != 300 {
		t.Fatal(err)
	}
	if r := want.rows[0]; r.Sent != jtlBase*1e6 || r.Done-r.Sent != 20e6 || r.FirstByte-r.Sent != 10e6 || r.Status != 200 {
		t.Errorf("first row %+v", r)
	}
	check := func(what, text string) {
		t.Helper()
		k, r, err := importText(t, "a.jtl", text)
		if err != nil || r.Bad > 0 || !slices.Equal(k.rows, want.rows) {
			t.Errorf("%s: %d rows, %v, %s", what, len(k.rows), err, r.FirstBad)
		}
	}
	check("no header", closedJTL(300))
	check("BOM, CRLF", "\xef\xbb\xbf"+strings.ReplaceAll(jtlHead+closedJTL(300), "\n", "\r\n"))
	var reversed, tabs strings.Builder
	for line := range strings.Lines(jtlHead + closedJTL(300)) {
		f := strings.Split(strings.TrimSpace(line), ",")
		tabs.WriteString(strings.Join(f, "\t") + "\n")
		slices.Reverse(f)
		reversed.WriteString(`"` + strings.Join(f, `","`) + "\"\n")
	}
	check("tabs", tabs.String())
	check("reversed, quoted", reversed.String())
	check("dates", jtlDates(jtlHead+closedJTL(300)))
}

// jtlDates writes the time stamps as dates.
func jtlDates(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		if i > 0 && line != "" {
			ms := int64(small([]byte(line[4:13])))
			ns := (1796*1_000_000_000 + ms) * 1e6
			line = timeOf(ns).Format("2006/01/02 15:04:05.000") + line[13:]
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestJTLFailures(t *testing.T) {
	t.Parallel()
	line := func(code, message, success string) string {
		return fmt.Sprintf("%d,20,GET /,%s,%s,users 1-1,text,%s,,120,180,5,5,http://a/,9,0,1\n", jtlBase, code, message, success)
	}
	text := jtlHead + line("200", "OK", "true") + line("500", "Oops", "false") + line("503", "Busy", "false") +
		line("Non HTTP response code: java.net.SocketTimeoutException", "Non HTTP response message: Read timed out", "false") +
		line("Non HTTP response code: java.net.ConnectException", "Connection refused", "false") +
		line("200", "\"Test failed:\nbody expected\nto contain \"\"ok\"\"\"", "false") + line("404", "expected", "true") +
		line("nonsense", "\"never closed", "false")
	k, r, err := importText(t, "a.jtl", text)
	if err != nil {
		t.Fatal(err)
	}
	want := []sample.Outcome{sample.OK, sample.Error, sample.Shed, sample.Timeout, sample.Error, sample.Error, sample.OK}
	if len(k.rows) != len(want) {
		t.Fatalf("%d rows, %+v", len(k.rows), r)
	}
	for i, row := range k.rows {
		if row.Outcome != want[i] {
			t.Errorf("row %d: %v, want %v", i, row.Outcome, want[i])
		}
	}
}

// With sampleresult.timestamp.start=false the stamps are those of ends.
func TestJTLStampsOfEnds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(jtlHead)
	at := jtlBase
	for i := range 100 {
		elapsed := 20 + int64(i*37%50)
		at += elapsed + 1
		b.WriteString(jtlLine(at, elapsed, "users 1-1"))
	}
	k, r, err := importText(t, "a.jtl", b.String())
	if err != nil || k.rows[99].Done != at*1e6 || len(r.Warnings) != 2 {
		t.Errorf("%v, %v", err, r.Warnings)
	}
}

// Threads of an Open Model Thread Group are numbered by the schedule.
func TestJTLOpenModel(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(jtlHead)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 6000 {
		late := rng.Int64N(2)
		if i%50 == 0 {
			late = 40
		}
		at := jtlBase + int64(float64(i)*1000/80) + late
		thread := fmt.Sprintf("Open Model Thread Group 1-%d", i+1)
		b.WriteString(jtlLine(at, 20, thread))
		b.WriteString(jtlLine(at+25, 30, thread))
	}
	k, r, err := importText(t, "a.jtl", b.String())
	if err != nil || r.Rows != 12_000 {
		t.Fatal(err)
	}
	for i, row := range k.rows {
		if i%2 == 0 && row.Index != int64(i/2) || i%2 == 1 && (row.Index != sample.NoIndex || row.Flags != sample.StartIsDue) {
			t.Fatalf("row %d: %+v", i, row)
		}
	}
	for i, rate := range []float64{80, 0} { // a second sample is no arrival of the schedule
		if g := k.groups[11_998+i]; g.Rate != rate || g.Model != sample.Open || g.Scenario != "Open Model Thread Group 1" {
			t.Errorf("group %+v; %v", g, r.Warnings)
		}
	}
	if r.Grade() != "C" {
		t.Errorf("grade %s", r.Grade())
	}
}

// Samples of Transaction Controllers are left out where their parts are there.
func TestJTLTransactions(t *testing.T) {
	t.Parallel()
	const outer = "%d,50,buy,200,\"Number of samples in transaction : 2, number of failing samples : 0\",users 1-1,,true,,1,1,5,5,null,0,0,0\n"
	text := jtlHead + jtlLine(jtlBase, 20, "users 1-1") + jtlLine(jtlBase+25, 25, "users 1-1") + fmt.Sprintf(outer, jtlBase) +
		fmt.Sprintf(outer, jtlBase+1000)
	k, r, err := importText(t, "a.jtl", text)
	if err != nil || len(k.rows) != 3 {
		t.Errorf("%d rows, %v, %v", len(k.rows), err, r.Warnings)
	}
	xml := `<?xml version="1.0" encoding="UTF-8"?><testResults version="1.2">
<sample t="50" lt="0" ts="1796046891967" s="true" lb="buy" rc="200" rm="Number of samples in transaction : 2" tn="users 1-1">
  <httpSample t="20" lt="9" ts="1796046891967" s="true" lb="a" rc="200" rm="OK" tn="users 1-1"/>
  <httpSample t="25" lt="9" ts="1796046891992" s="false" lb="b" rc="503" rm="Busy &#x1; &nosuch;" tn="users 1-1">
    <httpSample t="5" lt="9" ts="1796046891992" s="true" lb="redirect" rc="302" rm="" tn="users 1-1"/>
  </httpSample>
</sample>
<httpSample t="x" ts="1796046891967"/>
<sample t="7" ts="1796046892967" s="true" lb="java" rc="0" tn="users 1-1"/>
</testResults>`
	k, r, err = importText(t, "a.jtl", xml)
	if err != nil || len(k.rows) != 3 || r.Bad != 1 || k.rows[1].Outcome != sample.Shed || r.Torn {
		t.Errorf("XML: %d rows, %v, %+v", len(k.rows), err, r)
	}
	if _, r, err = importText(t, "a.jtl", xml[:len(xml)-40]); err != nil || !r.Torn {
		t.Errorf("cut off: %v, %+v", err, r)
	}
}

// The same run as CSV says what it says as XML.
func TestJTLEncodingsAgree(t *testing.T) {
	t.Parallel()
	want, _ := importFile(t, "jmeter/stall.jtl.zst")
	var b strings.Builder
	b.WriteString("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,grpThreads,allThreads,Latency\n")
	for line := range strings.Lines(string(contents(t, "jmeter/stall.jtl.zst"))) {
		get := func(name string) string {
			_, rest, _ := strings.Cut(line, " "+name+`="`)
			v, _, _ := strings.Cut(rest, `"`)
			return v
		}
		if strings.Contains(line, "<httpSample") {
			fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,text,%s,1,1,1,%s\n", get("ts"), get("t"), get("lb"), get("rc"), get("rm"), get("tn"), get("s"), get("lt"))
		}
	}
	k, _, err := importText(t, "stall.jtl", b.String())
	if err != nil || !slices.Equal(k.rows, want.rows) {
		t.Errorf("%d rows, want %d; %v", len(k.rows), len(want.rows), err)
	}
}

// The threads of a closed loop are its users, second by second.
func TestJTLUsers(t *testing.T) {
	t.Parallel()
	text := jtlHead
	for i := range int64(100) {
		text += jtlLine(jtlBase+i*100, 20, fmt.Sprintf("users 1-%d", i%3+1))
	}
	k, _, err := importText(t, "a.jtl", text)
	users := 0
	for i := range k.points {
		if k.series[i].Name == "jmeter.maxAT" {
			users++
		}
	}
	if err != nil || users < 10 || users > 11 { // the other point is a note
		t.Fatalf("%v, %d points", err, users)
	}
	for i, p := range k.points[:users] {
		if p.Value != 5 || i > 0 && p.Time != k.points[i-1].Time+1e9 {
			t.Errorf("point %d: %+v", i, p)
		}
	}
}

package importer

import (
	"bytes"
	"strings"
	"testing"
)

// fuzz imports what a fuzzer makes as one format. Nothing may panic, rows must be
// such as the catalogue takes, and importing again must give the same chunks.
func fuzz(f *testing.F, format string) {
	f.Helper()
	f.Fuzz(func(t *testing.T, data []byte) {
		var k kept
		r, err := Import(t.Context(), Input{Name: "f", Format: format, Reader: bytes.NewReader(data)}, k.keep)
		for _, row := range k.rows {
			if row.Sent <= 0 || row.Done < row.Sent {
				t.Fatalf("row %+v", row)
			}
		}
		if err == nil && r.Rows != int64(len(k.rows)) {
			t.Fatalf("%d rows of %d", len(k.rows), r.Rows)
		}
		again, errAgain := Import(t.Context(), Input{Name: "f", Format: format, Reader: bytes.NewReader(data)}, k.keep)
		if (err == nil) != (errAgain == nil) || err == nil && again.Duplicates != again.Chunks {
			t.Fatalf("again: %v, %v, %+v", err, errAgain, again)
		}
	})
}

func FuzzK6JSON(f *testing.F) {
	f.Add(k6Whole())
	f.Add(contents(f, "k6/f-overload-return.json.zst")[:3000])
	fuzz(f, "k6-json")
}

func FuzzK6CSV(f *testing.F) {
	f.Add(contents(f, "k6/e2-stall-100-20vus.csv.zst")[:3000])
	f.Add([]byte("metric_name,timestamp,metric_value,status,extra_tags,metadata\nhttp_req_duration,1796045615000000001,2,200,attempt=2,vu=1&iter=0\n"))
	f.Add([]byte("metric_name,timestamp,metric_value\niteration_duration,2026-11-30T10:00:00.5Z,2e3\ndropped_iterations,1,1\n"))
	fuzz(f, "k6-csv")
}

func FuzzVegetaJSON(f *testing.F) {
	f.Add(contents(f, "vegeta/stall-100.json.zst")[:3000])
	fuzz(f, "vegeta-json")
}

func FuzzVegetaCSV(f *testing.F) {
	f.Add([]byte(attackOf(22)))
	f.Add([]byte(vegetaRow(0, 1, -1, `0`) + vegetaRow(1<<40, 1<<62, 1<<60, `"5""00"`)))
	fuzz(f, "vegeta-csv")
}

func FuzzVegetaGob(f *testing.F) {
	f.Add(contents(f, "vegeta/stall-100.bin.zst")[:2000])
	fuzz(f, "vegeta-gob")
}

func FuzzJTLCSV(f *testing.F) {
	f.Add([]byte(jtlHead + closedJTL(22)))
	f.Add([]byte(closedJTL(5)))
	f.Add([]byte("timeStamp;elapsed;threadName\n2026/11/30 10:00:00.000;5;\"a\nb 1-1\"\n"))
	fuzz(f, "jtl-csv")
}

func FuzzJTLXML(f *testing.F) {
	f.Add(contents(f, "jmeter/stall.jtl.zst")[:2000])
	f.Add([]byte(`<testResults><!-- x --><![CDATA[ <sample> ]]><sample ts='1' t="2" tn="a 1-1" rm="&#x1;&lt;"><httpSample ts="1796046891967" t="20" tn="a 1-1"/></sample></testResults>`))
	fuzz(f, "jtl-xml")
}

func FuzzGatlingText(f *testing.F) {
	s := openSimulation(5, 1)
	f.Add([]byte(s.text(false)))
	f.Add([]byte(s.text(true)))
	fuzz(f, "gatling-text")
}

func FuzzGatlingBinary(f *testing.F) {
	s := openSimulation(5, 2)
	f.Add([]byte(s.binary()))
	fuzz(f, "gatling-binary")
}

// FuzzDetect holds that any head of a file is looked at without harm, and that
// reading as what was found ends.
func FuzzDetect(f *testing.F) {
	f.Add([]byte(jtlHead))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0})
	f.Add([]byte("{\"resourceSpans\":[]}\n"))
	f.Add([]byte(strings.Repeat("\x0a", 100)))
	fuzz(f, "")
}

// FuzzOTLPFile holds that what stands around OTLP messages is read without harm;
// the messages themselves are fuzzed where they are decoded.
func FuzzOTLPFile(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x06\x0a\x04\x12\x02\x12\x00"))
	f.Add([]byte("{\"resourceMetrics\":[]}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []string{"otlp-proto", "otlp-json"} {
			_, err := Import(t.Context(), Input{Name: "f", Format: format, Reader: bytes.NewReader(data), OTLP: nothing{}}, discard)
			_ = err // any is right
		}
		otlpKind(data)
	})
}

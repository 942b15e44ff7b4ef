package importer

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// repeated reads the header and then the body again and again.
func repeated(header, body []byte, times int) io.Reader {
	readers := []io.Reader{bytes.NewReader(header)}
	for range times {
		readers = append(readers, bytes.NewReader(body))
	}
	return io.MultiReader(readers...)
}

func discard(context.Context, journal.ID, []*sample.Batch) (journal.Receipt, error) {
	return journal.Receipt{}, nil
}

// benchmark imports a text whose lines come again and again.
func benchmark(b *testing.B, name string, header, body []byte) {
	b.Helper()
	const times = 8
	b.ReportAllocs()
	b.SetBytes(int64(len(header) + times*len(body)))
	var rows int64
	for b.Loop() {
		r, err := Import(b.Context(), Input{Name: name, Reader: repeated(header, body, times)}, discard)
		if err != nil {
			b.Fatal(err)
		}
		rows += r.Rows
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkK6JSON(b *testing.B) {
	benchmark(b, "k6.json", nil, contents(b, "k6/c-arrival-90.json.zst"))
}

// BenchmarkK6JSONWhole has all metrics that k6 writes of a request.
func BenchmarkK6JSONWhole(b *testing.B) {
	benchmark(b, "k6.json", nil, bytes.Repeat(k6Whole(), 3000))
}

func BenchmarkK6CSV(b *testing.B) {
	benchmark(b, "k6.csv", []byte(k6Header), k6Nanos())
}

const k6Header = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n"

// k6Nanos are the lines of a CSV of k6 with exact times.
func k6Nanos() []byte {
	var body bytes.Buffer
	for i := range 20_000 {
		at := strconv.FormatInt(1796045615000000000+int64(i)*10_000_000, 10)
		const tags = ",,,,true,,POST,http://127.0.0.1:8080/orders,HTTP/1.1,orders,,200,,,http://127.0.0.1:8080/orders,,\n"
		for _, m := range []string{"http_reqs", "http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_waiting", "http_req_failed"} {
			body.WriteString(m + "," + at + ",0.478854" + tags)
		}
		body.WriteString("iteration_duration," + at + ",0.6,,,,,,,,,orders,,,,,,,\n")
	}
	return body.Bytes()
}

func BenchmarkVegetaJSON(b *testing.B) {
	benchmark(b, "results.json", nil, contents(b, "vegeta/stall-100.json.zst"))
}

func BenchmarkVegetaCSV(b *testing.B) {
	benchmark(b, "results.csv", nil, contents(b, "vegeta/stall-100.csv.zst"))
}

func BenchmarkJTLCSV(b *testing.B) {
	header := []byte("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n")
	var body bytes.Buffer
	for i := range 50_000 {
		body.WriteString(strconv.FormatInt(1796046891967+int64(i), 10) + ",94,GET /orders,200,OK,shoppers 1-" +
			strconv.Itoa(1+i%50) + ",text,true,,120,180,50,50,http://127.0.0.1:8080/orders,89,0,1\n")
	}
	benchmark(b, "results.jtl", header, body.Bytes())
}

// k6Whole is all that k6 writes of one iteration with one request.
func k6Whole() []byte {
	const at = `"2026-11-30T13:34:10.00753157Z"`
	const tags = `"tags":{"expected_response":"true","group":"","method":"POST","name":"http://127.0.0.1:8080/orders","proto":"HTTP/1.1","scenario":"orders","status":"200","url":"http://127.0.0.1:8080/orders"}}}` + "\n"
	var b bytes.Buffer
	for _, m := range []string{
		"http_reqs", "http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking",
		"http_req_sending", "http_req_waiting", "http_req_receiving", "http_req_failed",
	} {
		b.WriteString(`{"metric":"` + m + `","type":"Point","data":{"time":` + at + `,"value":41.005485,` + tags)
	}
	for _, m := range []string{"checks", "data_sent", "data_received", "iteration_duration", "iterations"} {
		b.WriteString(`{"metric":"` + m + `","type":"Point","data":{"time":"2026-11-30T13:34:10.008113172Z","value":42.08666,"tags":{"group":"","scenario":"orders"}}}` + "\n")
	}
	return b.Bytes()
}

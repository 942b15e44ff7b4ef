package e2e_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// writes reads what a generator wrote as line protocol: "# POST TARGET", the
// lines of the body, repeated.
func writes(t *testing.T, name string) (targets []string, bodies [][]byte) {
	t.Helper()
	f, err := os.Open(filepath.Join("../../collector/influx/testdata", name+".lines.gz"))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(z)
	must(t, err)
	for part := range bytes.SplitSeq(data, []byte("# POST ")) {
		if target, body, ok := bytes.Cut(part, []byte("\n")); ok {
			targets, bodies = append(targets, string(target)), append(bodies, body)
		}
	}
	return targets, bodies
}

// writeLines posts a body as InfluxDB's clients do.
func (s *server) writeLines(target string, body []byte, zip bool) error {
	s.t.Helper()
	if zip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(body); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		body = b.Bytes()
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.api+target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if zip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%s: %s %w", resp.Status, answer, err)
	}
	return nil
}

// TestLineProtocol writes what k6 and JMeter wrote, twice, the second time
// compressed and in reverse: every request counts once, by its own times, and a
// closed loop is seen.
func TestLineProtocol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, grade, loop string
		sent, dropped     int64
	}{
		{"k6-arrival-90", "C", "open", 900, 0},
		{"k6-arrival-150", "C", "capped", 2970, 1531},
		{"k6-closed-10", "S", "closed", 2593, 0},
		{"jmeter", "S", "closed", 1331, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, t.TempDir())
			targets, bodies := writes(t, c.name)
			for i := range bodies {
				must(t, s.writeLines(targets[i]+"&run=lines", bodies[i], false))
			}
			for i := len(bodies) - 1; i >= 0; i-- {
				must(t, s.writeLines(targets[i]+"&run=lines", bodies[i], true))
			}
			run := "lines"
			if c.name == "k6-arrival-90" {
				run = "orders-90" // its own tag says more than the address
			}
			s.run("run", "finish", run)
			s.run("check", run, "--objective", "p95<300ms")
			v := s.verdict(run)
			if v.Run.Grade == nil || *v.Run.Grade != c.grade || v.Audit.Loop != c.loop {
				t.Errorf("grade %v, loop %s: %s", v.Run.Grade, v.Audit.Loop, v.Headline)
			}
			if v.Totals.Sent != c.sent || v.Totals.Dropped != c.dropped {
				t.Errorf("%d sent, %d dropped, want %d and %d", v.Totals.Sent, v.Totals.Dropped, c.sent, c.dropped)
			}
			if c.loop == "closed" && (v.Totals.ResponseTime.Valid || v.SaturationThroughput == nil) {
				t.Errorf("of a closed loop: %+v, %+v", v.Totals.ResponseTime, v.SaturationThroughput)
			}
		})
	}
}

package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUnstableRunIsHeardOf overloads a service half way through a run of unknown
// length: while the run goes on the webhook is told, by a server that was killed
// and started again while the receiver was away, a command is run, and the metrics
// say so; when the run is finished the alert stands on.
func TestUnstableRunIsHeardOf(t *testing.T) {
	t.Parallel()
	heard := make(chan map[string]any, 16)
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var all []map[string]any
		if json.NewDecoder(r.Body).Decode(&all) == nil {
			for _, a := range all {
				heard <- a
			}
		}
	}))
	addr := hook.Listener.Addr().String()
	must(t, hook.Listener.Close()) // nobody is there yet

	dir, told := t.TempDir(), filepath.Join(t.TempDir(), "told")
	flags := []string{"--alert-webhook", "http://" + addr, "--on-verdict", `{ echo "$PLIMSOLL_EVENT $PLIMSOLL_ALERT"; cat; } >` + told + `.new && mv ` + told + `.new ` + told + `.$PLIMSOLL_EVENT`}
	s := serve(t, dir, flags...)
	rng := rand.New(rand.NewPCG(9, 9))
	start := time.Now().Add(-2 * time.Minute).UnixNano()
	var spans []span
	free := start
	for i := range int64(9000) {
		due, took := start+i*10e6, int64(5e6)
		if i >= 6000 {
			took = 14e6
		}
		free = max(free, due) + took
		spans = append(spans, span{due: due, sent: due, done: free, status: 200})
	}
	to := httpSender{addr: s.http}
	for i := 0; i < len(spans); i += 500 {
		must(t, to.send(t.Context(), traces(t, rng, "heard", spans[i:i+500])))
	}
	wait(t, "the metrics to say so", func() bool {
		return strings.Contains(string(s.get("/metrics")), `plimsoll_run_unstable{run_name="orders",step=""} 1`)
	})
	wait(t, "the command", func() bool { _, err := os.Stat(told + ".alert"); return err == nil })
	if data, err := os.ReadFile(told + ".alert"); err != nil || !strings.HasPrefix(string(data), "alert PlimsollUnstable\n{") {
		t.Errorf("the command was told %q, %v", data, err)
	}
	_ = s.cmd.Process.Kill()
	<-s.done
	s.done = nil

	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("the receiver's port was taken meanwhile: %v", err)
	}
	hook.Listener = l
	hook.Start()
	defer hook.Close()
	s = serve(t, dir, flags...)
	select {
	case a := <-heard:
		labels, notes := a["labels"].(map[string]any), a["annotations"].(map[string]any)
		if labels["alertname"] != "PlimsollUnstable" || labels["run_name"] != "orders" || notes["run_id"] != "heard" ||
			!strings.Contains(notes["description"].(string), "100/s were offered") {
			t.Errorf("heard %v", a)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was heard")
	}
	s.run("run", "finish", "heard")
	wait(t, "the command on the verdict", func() bool { _, err := os.Stat(told + ".verdict"); return err == nil })
	if text := string(s.get("/metrics")); !strings.Contains(text, "plimsoll_alerts_firing 1\n") {
		t.Errorf("after the end the alert stands no more:\n%s", text)
	}
}

// wait waits for what comes soon.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("waited in vain for %s", what)
}

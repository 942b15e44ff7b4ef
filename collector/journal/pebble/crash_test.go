package pebble

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// The test binary runs itself as the process that is killed.
var (
	crashDir  = flag.String("crash-dir", "", "append to the journal in this directory until killed")
	crashFrom = flag.Int("crash-from", 0, "number of the first append")
)

const crashWriters = 4

func crashID(n int) (id journal.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(n)+1)
	return id
}

func crashRecords(n int) []journal.Record {
	data := bytes.Repeat([]byte(strconv.Itoa(n)+" "), 1000)
	return []journal.Record{{Stream: "a", Data: data}, {Stream: "b", Data: data}}
}

// TestCrashChild is not a test: it appends and prints the number of each
// append that was acknowledged.
func TestCrashChild(t *testing.T) {
	if *crashDir == "" {
		t.Skip("only run by TestKilled")
	}
	l, err := Open(*crashDir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range crashWriters {
		wg.Go(func() {
			for n := *crashFrom + w; ; n += crashWriters {
				if _, err := l.Append(t.Context(), crashID(n), crashRecords(n)); err != nil {
					t.Errorf("append: %v", err)
					return
				}
				fmt.Printf("\nacknowledged %d\n", n)
			}
		})
	}
	wg.Wait()
}

// TestKilled kills a process that appends, several times over, and checks that
// everything it had acknowledged is there, whole, and known by its id.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := map[int]bool{}
	next := 0
	for _, acks := range []int{1, 50, 1500} { // the last is past several flushes
		for _, n := range appendUntilKilled(t, dir, next, acks) {
			acknowledged[n] = true
			next = max(next, n+1)
		}
		next += crashWriters // appends under way may have become durable
		checkCrashed(t, dir, Options{}, acknowledged)
	}
}

func appendUntilKilled(t *testing.T, dir string, from, acks int) []int {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$", "-crash-dir="+dir, fmt.Sprint("-crash-from=", from))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var got []int
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &n); err != nil {
			continue
		}
		if got = append(got, n); len(got) == acks {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); len(got) < acks {
		t.Fatalf("the process ended after %d acknowledged appends: %v", len(got), err)
	}
	return got
}

func checkCrashed(t *testing.T, dir string, opt Options, acknowledged map[int]bool) {
	t.Helper()
	l, err := Open(dir, opt)
	if err != nil {
		t.Fatalf("open after a crash: %v", err)
	}
	defer l.Close()
	seen := map[string]map[string]bool{"a": {}, "b": {}}
	for stream, data := range seen {
		var at []journal.Position
		err := l.Metas(t.Context(), stream, 0, func(p journal.Position, _ journal.Meta) error {
			at = append(at, p)
			return nil
		})
		err = errors.Join(err, l.Read(t.Context(), stream, at, func(e journal.Entry) error {
			data[string(e.Data)] = true
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) != len(at) {
			t.Errorf("stream %s has %d entries, %d of them different", stream, len(at), len(data))
		}
	}
	if len(seen["a"]) != len(seen["b"]) {
		t.Errorf("an append is there in part: %d and %d entries", len(seen["a"]), len(seen["b"]))
	}
	for n := range acknowledged {
		if !seen["a"][string(crashRecords(n)[0].Data)] {
			t.Errorf("append %d was acknowledged and is gone", n)
		}
		if duplicate, err := l.Append(t.Context(), crashID(n), crashRecords(n)); err != nil || !duplicate {
			t.Errorf("append %d is not known after the crash: %v", n, err)
		}
	}
}

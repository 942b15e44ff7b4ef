package pebble

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	engine "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/journaltest"
)

func mustOpen(t *testing.T, dir string, opt Options) *Log {
	t.Helper()
	l, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func TestConformance(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T, dir string) journal.Log {
		t.Helper()
		return mustOpen(t, dir, Options{})
	})
}

func TestInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrInUse) {
		t.Errorf("opening a directory twice gives %v, want ErrInUse", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir, Options{})
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	check := func(want string, spoil func(dir string) error) {
		t.Helper()
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{})
		if _, err := l.Append(t.Context(), journal.ID{1}, []journal.Record{{Stream: "s", Data: []byte("x")}}); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, Options{Fatal: func(reason string) { panic(reason) }})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v, want an error about %q that names the directory", err, want)
		}
	}
	check("MANIFEST", func(dir string) error {
		files, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
		for _, f := range files {
			err = errors.Join(err, os.WriteFile(f, []byte("not a manifest"), 0o600))
		}
		return err
	})
	check("layout 63", func(dir string) error { return setRaw(dir, []byte{keyVersion}, []byte("c")) })
	check("other data", func(dir string) error {
		return errors.Join(setRaw(dir, []byte{keyVersion}, nil), setRaw(dir, []byte("x"), []byte("y")))
	})
	check("not a directory", func(dir string) error {
		return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
	})
}

// setRaw sets a key, or deletes it, without regard for what it means.
func setRaw(dir string, key, value []byte) error {
	opt := Options{Logger: slog.New(slog.DiscardHandler), fs: vfs.Default}
	db, err := engine.Open(dir, engineOptions(opt, newRoom(dir, opt)))
	if err != nil {
		return err
	}
	if value == nil {
		err = db.Delete(key, engine.Sync)
	} else {
		err = db.Set(key, value, engine.Sync)
	}
	return errors.Join(err, db.Close())
}

func TestKeysKeepTheOrderOfNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 0xff}), 1, 5), func(b []byte) string { return string(b) })
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		p := journal.Position(rapid.Uint64().Draw(t, "position"))
		keyA, keyB := withPosition(streamPrefix(a), p), withPosition(streamPrefix(b), p)
		if got, want := bytes.Compare(keyA, keyB), strings.Compare(a, b); got != want {
			t.Fatalf("names %q and %q compare as %d, their keys as %d", a, b, want, got)
		}
		if a != b && bytes.HasPrefix(keyA, streamPrefix(b)) {
			t.Fatalf("the keys of %q are among those of %q", a, b)
		}
		stream, q, err := splitMetaKey(keyA)
		if err != nil || stream != a || q != p {
			t.Fatalf("key of (%q, %d) splits into (%q, %d): %v", a, p, stream, q, err)
		}
	})
}

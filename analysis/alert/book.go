package alert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// mostNotices bounds what waits to be delivered; the oldest are given up first.
const mostNotices = 1000

// Notice is a change that waits to be delivered: an alert that began to fire or
// that ended.
type Notice struct {
	Number int64 `json:"number"` // grows from notice to notice, also over restarts
	Alert  Alert `json:"alert"`
}

// Book holds the alerts that fire and the notices that wait. With a path it is
// kept in a file, so that it survives a restart.
type Book struct {
	path string

	mu      sync.Mutex
	changed chan struct{} // receives when there is a notice
	kept    kept
}

// kept is what a book's file holds.
type kept struct {
	Firing  map[string]*entry `json:"firing"` // by labels and run
	Waiting []Notice          `json:"waiting"`
	Last    int64             `json:"last"`
	GivenUp int64             `json:"given_up"`
}

// entry is an alert that fires.
type entry struct {
	Alert Alert     `json:"alert"`
	Until time.Time `json:"until"` // when it ends though nothing says so: its run has ended
}

// OpenBook reads the book at path, or begins one; an empty path keeps it in
// memory alone. A file that cannot be read as a book is named in the error.
func OpenBook(path string) (*Book, error) {
	b := &Book{path: path, changed: make(chan struct{}, 1), kept: kept{Firing: map[string]*entry{}}}
	if path == "" {
		return b, nil
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b, nil
	case err != nil:
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	if err := json.Unmarshal(data, &b.kept); err != nil {
		return nil, fmt.Errorf("read alerts in %s: %w (removing the file forgets which alerts fire)", path, err)
	}
	if b.kept.Firing == nil {
		b.kept.Firing = map[string]*entry{}
	}
	if len(b.kept.Waiting) > 0 {
		b.wake()
	}
	return b, nil
}

func (b *Book) wake() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// Changed receives after a notice was added.
func (b *Book) Changed() <-chan struct{} { return b.changed }

func key(l Labels, run string) string {
	return l.Name + "\x00" + l.RunName + "\x00" + l.Scenario + "\x00" + l.Severity + "\x00" + run
}

// Tell says which of the named alerts of a run hold at an instant. Those that
// did not fire begin to, and are returned; those that fired and do not hold any
// more end.
func (b *Book) Tell(run string, names []string, hold []Alert, at time.Time) (began []Alert, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := map[string]bool{}
	for _, a := range hold {
		k := key(a.Labels, run)
		holds[k] = true
		if b.kept.Firing[k] != nil {
			continue
		}
		if a.StartsAt.IsZero() {
			a.StartsAt = at
		}
		a.EndsAt = time.Time{}
		b.kept.Firing[k] = &entry{Alert: a}
		b.notice(a)
		began = append(began, a)
	}
	dirty := len(began) > 0
	for _, k := range b.sorted() {
		e := b.kept.Firing[k]
		if e.Alert.RunID == run && slices.Contains(names, e.Alert.Labels.Name) && !holds[k] {
			b.end(k, at)
			dirty = true
		}
	}
	return began, b.keep(dirty)
}

// Supersede ends the alerts of ended runs of a name, because a new run of that
// name has begun.
func (b *Book) Supersede(name, by string, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirty := false
	for _, k := range b.sorted() {
		e := b.kept.Firing[k]
		if e.Alert.Labels.RunName == name && e.Alert.RunID != by && !e.Until.IsZero() {
			b.end(k, at)
			dirty = true
		}
	}
	return b.keep(dirty)
}

// Ended says that a run has ended: what fires of it goes on until the given
// time.
func (b *Book) Ended(run string, until time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirty := false
	for _, e := range b.kept.Firing {
		if e.Alert.RunID == run && e.Until.IsZero() {
			e.Until, dirty = until, true
		}
	}
	return b.keep(dirty)
}

// Reopened says that a run goes on after all.
func (b *Book) Reopened(run string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirty := false
	for _, e := range b.kept.Firing {
		if e.Alert.RunID == run && !e.Until.IsZero() {
			e.Until, dirty = time.Time{}, true
		}
	}
	return b.keep(dirty)
}

// Expire ends the alerts whose time has come.
func (b *Book) Expire(at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirty := false
	for _, k := range b.sorted() {
		if e := b.kept.Firing[k]; !e.Until.IsZero() && !at.Before(e.Until) {
			b.end(k, at)
			dirty = true
		}
	}
	return b.keep(dirty)
}

// end ends an alert. The caller holds mu.
func (b *Book) end(k string, at time.Time) {
	a := b.kept.Firing[k].Alert
	delete(b.kept.Firing, k)
	a.EndsAt = latest(at, a.StartsAt)
	b.notice(a)
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (b *Book) notice(a Alert) {
	b.kept.Last++
	b.kept.Waiting = append(b.kept.Waiting, Notice{b.kept.Last, a})
	if over := len(b.kept.Waiting) - mostNotices; over > 0 {
		b.kept.Waiting = slices.Delete(b.kept.Waiting, 0, over)
		b.kept.GivenUp += int64(over)
	}
	b.wake()
}

func (b *Book) sorted() []string { return slices.Sorted(maps.Keys(b.kept.Firing)) }

// fires reports whether the alert with a key fires.
func (b *Book) fires(k string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.Firing[k] != nil
}

// Firing returns the alerts that fire, by run and labels.
func (b *Book) Firing() []Alert {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Alert, 0, len(b.kept.Firing))
	for _, k := range b.sorted() {
		out = append(out, b.kept.Firing[k].Alert)
	}
	slices.SortStableFunc(out, func(x, y Alert) int { return cmp.Compare(x.RunID, y.RunID) })
	return out
}

// Waiting returns the notices that are yet to be delivered, oldest first.
func (b *Book) Waiting() []Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.kept.Waiting)
}

// GivenUp returns how many notices were given up because too many waited.
func (b *Book) GivenUp() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.GivenUp
}

// Delivered removes the notices up to a number.
func (b *Book) Delivered(number int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.kept.Waiting)
	b.kept.Waiting = slices.DeleteFunc(b.kept.Waiting, func(w Notice) bool { return w.Number <= number })
	return b.keep(len(b.kept.Waiting) != n)
}

// keep writes the book to its file. The caller holds mu.
func (b *Book) keep(dirty bool) error {
	if !dirty || b.path == "" {
		return nil
	}
	data, err := json.Marshal(&b.kept)
	if err != nil {
		return fmt.Errorf("encode alerts: %w", err)
	}
	if err := replace(b.path, data); err != nil {
		return fmt.Errorf("keep alerts: %w", err)
	}
	return nil
}

// replace writes a file whole or not at all.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

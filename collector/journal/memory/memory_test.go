package memory

import (
	"sync"
	"testing"

	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/journaltest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	kept := map[string]*Log{} // by directory: what a disk would hold
	journaltest.Run(t, func(t *testing.T, dir string) journal.Log {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if old := kept[dir]; old != nil {
			kept[dir] = old.Reopen()
		} else {
			kept[dir] = New()
		}
		return kept[dir]
	})
}

package pebble

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPowerLoss takes the disk as it is at some moment without, or with only
// part of, what was not synced, while appends go on: what had been acknowledged
// before that moment must be on it. A kill of the process cannot show this.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		disk := vfs.NewCrashableMem()
		l := mustOpen(t, "/data", Options{fs: roomyFS{disk}})
		var mu sync.Mutex
		acknowledged := map[int]bool{}
		crashed := make(chan *vfs.MemFS, 1)
		var atCrash map[int]bool
		var wg sync.WaitGroup
		for w := range crashWriters {
			wg.Go(func() {
				for n := w; n < 800; n += crashWriters {
					if _, err := l.Append(t.Context(), crashID(n), crashRecords(n)); err != nil {
						t.Errorf("append: %v", err)
						return
					}
					mu.Lock()
					acknowledged[n] = true
					if len(acknowledged) == 100*(1+int(seed)) {
						atCrash = make(map[int]bool, len(acknowledged))
						for n := range acknowledged {
							atCrash[n] = true
						}
						crashed <- disk.CrashClone(vfs.CrashCloneCfg{
							UnsyncedDataPercent: int(seed) % 3 * 30, RNG: rand.New(rand.NewPCG(seed, 1)),
						})
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		checkCrashed(t, "/data", Options{fs: roomyFS{<-crashed}}, atCrash)
	}
}

// roomyFS has room, which the file system in memory does not know.
type roomyFS struct{ vfs.FS }

func (roomyFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 40}, nil
}

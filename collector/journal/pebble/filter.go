package pebble

import (
	"encoding/binary"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// filter says for nearly every id that was never appended that it is new,
// without a look at the tables. It is a Bloom filter that grows by parts of
// 64 Ki ids: 16 bits an id, four probes, one false alarm in 400 a part. Ids are
// hashes, so their bytes are the probes. It forgets nothing; ids that were
// deleted cost a look.
type filter struct {
	parts []*[filterBits / 64]uint64
	left  int // ids that still fit into the last part
}

const (
	filterBits = 1 << 20
	filterIDs  = filterBits / 16
)

// add takes an id in.
func (f *filter) add(id journal.ID) {
	if f.left == 0 {
		f.parts = append(f.parts, new([filterBits / 64]uint64))
		f.left = filterIDs
	}
	f.left--
	last := f.parts[len(f.parts)-1]
	for i := range 4 {
		p := probe(id, i)
		last[p>>6] |= 1 << (p & 63)
	}
}

// mayHold is false when the id was never added.
func (f *filter) mayHold(id journal.ID) bool {
	for _, part := range f.parts {
		hit := true
		for i := 0; i < 4 && hit; i++ {
			p := probe(id, i)
			hit = part[p>>6]&(1<<(p&63)) != 0
		}
		if hit {
			return true
		}
	}
	return false
}

func probe(id journal.ID, i int) uint32 {
	return binary.LittleEndian.Uint32(id[4*i:]) % filterBits
}

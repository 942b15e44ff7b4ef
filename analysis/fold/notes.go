package fold

import (
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const (
	mostNotes = 40  // of a run
	longNote  = 600 // bytes
)

// addNotes takes what importers noted of their files.
func (f *folder) addNotes(b *sample.Batch) {
	for i := range b.Series {
		text, ok := b.Series[i].Note()
		if !ok {
			continue
		}
		text = strings.ToValidUTF8(text[:min(len(text), longNote)], "")
		if at, found := slices.BinarySearch(f.notes, text); !found {
			f.notes = slices.Insert(f.notes, at, text)
			f.notes = f.notes[:min(len(f.notes), mostNotes)] // the first by text, in whatever order they come
		}
	}
}

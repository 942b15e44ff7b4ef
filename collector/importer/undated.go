package importer

import (
	"errors"
	"time"
)

// errUndated says that nothing tells when the run was.
var errUndated = errors.New("file holds no date: say when the run ended (--ended)")

// End returns when the run of a file without dates ended: as the user says, else
// when the file was last written, with a warning. All times of such a file lie
// before it. It is called before anything is handed on: the same file is known
// again wherever its run is put.
func (k *Sink) End() (int64, error) {
	switch {
	case k.src.ended > 0:
		k.chunk.origin = k.src.ended
		return k.src.ended, nil
	case k.src.written > 0:
		k.chunk.origin = k.src.written
		k.Warn("the file holds no date: its end is put at %s, when it was last written (--ended says otherwise)",
			time.Unix(0, k.src.written).UTC().Format(time.RFC3339))
		k.passing = append(k.passing, k.report.Warnings[len(k.report.Warnings)-1])
		return k.src.written, nil
	}
	return 0, errUndated
}

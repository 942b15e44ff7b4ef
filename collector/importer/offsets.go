package importer

import "fmt"

// offsets reads CSV with a header whose times count, in seconds, from the start
// of the run. When that was is known from the end of the run, so the file is read
// twice.
type offsets struct {
	columns     int // of a line
	start, took int // columns of when a request was sent and how long it took
}

// read calls row with the start of the run and every line. Row marks errors of
// the sink with stop.
func (o *offsets) read(src *Source, sink *Sink, row func(base int64, f [][]byte, sent, took int64) error) error {
	if _, err := header(src, sink); err != nil {
		return err
	}
	end, err := sink.End()
	if err != nil {
		return err
	}
	var last int64
	each := func(do func(f [][]byte, sent, took int64) error) func() error {
		return func() error {
			return records(src, sink, ',', func(f [][]byte) error {
				if len(f) != o.columns {
					return fmt.Errorf("%w: %d", errColumns, len(f))
				}
				sent, err := decimal(f[o.start], 1e9)
				if err != nil {
					return err
				}
				took, err := decimal(f[o.took], 1e9)
				if err != nil {
					return err
				}
				return do(f, sent, took)
			})
		}
	}
	first := func() error {
		before := *sink.report
		err := each(func(_ [][]byte, sent, took int64) error {
			last = max(last, sent+took)
			return nil
		})()
		if err == nil {
			*sink.report = before // what is bad is so once
		}
		return err
	}
	return src.twice(first, each(func(f [][]byte, sent, took int64) error { return row(end-last, f, sent, took) }))
}

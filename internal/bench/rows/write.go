package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// sampleRows is how many rows the measurement of encoding alone uses.
const sampleRows = 4_000_000

// generateOnly measures making rows, which is part of the writing measured
// later, and encoding them.
func generateOnly(p *printer, c config) error {
	rows := min(c.rows, sampleRows)
	each := printer{out: p.out, rows: rows}
	g, b := newGenerator(c), &sample.Batch{}
	if err := each.measure("generate", func() error {
		for left := rows; left > 0; left -= c.batchRows {
			g.next(b, min(c.batchRows, left))
		}
		return nil
	}); err != nil {
		return err
	}
	var data []byte
	size := 0
	err := each.measure("generate and encode", func() error {
		for left := rows; left > 0; left -= c.batchRows {
			g.next(b, min(c.batchRows, left))
			data = batch.Append(data[:0], b)
			size += len(data)
		}
		return nil
	})
	p.line("encoded", "%.2f B/row", float64(size)/float64(rows))
	return err
}

// write appends all rows, with several appends under way at a time.
func write(ctx context.Context, p *printer, c config, log journal.Log) error {
	work := make(chan *appending, c.concurrency)
	free := make(chan *appending, 2*c.concurrency)
	for range 2 * c.concurrency {
		free <- &appending{}
	}
	var took time.Duration // of the appends, by the wall clock
	var failed error
	var mu sync.Mutex
	err := p.measure("generate, encode, append", func() error {
		var wg sync.WaitGroup
		for range c.concurrency {
			wg.Go(func() {
				for a := range work {
					start := time.Now()
					duplicate, err := log.Append(ctx, a.id, a.records[:])
					if err == nil && duplicate {
						err = errors.New("an append was taken for a duplicate")
					}
					mu.Lock()
					took += time.Since(start)
					failed = errors.Join(failed, err)
					mu.Unlock()
					free <- a
				}
			})
		}
		g, b := newGenerator(c), &sample.Batch{}
		for n, left := uint64(1), c.rows; left > 0; n, left = n+1, left-c.batchRows {
			a := <-free
			g.next(b, min(c.batchRows, left))
			a.set(n, b)
			work <- a
		}
		close(work)
		wg.Wait()
		return failed
	})
	batches := (c.rows + c.batchRows - 1) / c.batchRows
	p.line("one append", "%.3f ms mean, %d under way", took.Seconds()*1e3/float64(batches), c.concurrency)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return nil
}

// appending is one append with its own memory.
type appending struct {
	id      journal.ID
	records [1]journal.Record
}

func (a *appending) set(n uint64, b *sample.Batch) {
	const golden = 0x9e3779b97f4a7c15 // ids are hashes: not in order
	binary.LittleEndian.PutUint64(a.id[:], n*golden)
	binary.LittleEndian.PutUint64(a.id[8:], n)
	a.records[0] = journal.Record{
		Stream: stream, Meta: journal.Meta{Span: b.Span(), Rows: uint32(b.Len())},
		Data: batch.Append(a.records[0].Data[:0], b),
	}
}

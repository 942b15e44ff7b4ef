package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// fortioLog is what fortio writes with -access-log-file: a line a request, with
// its thread and its number within the thread. Each thread sends by a schedule of
// its own, so that its sends show the interval, and the number says when each
// request was due. Numbers that are missing were skipped (-nocatchup): they were
// due and never sent. The file is read twice.
func fortioLog() Format {
	return Format{
		Name: "fortio-log", Title: "fortio access log", Generator: "fortio",
		Sniff: func(head []byte) bool {
			line, _, _ := bytes.Cut(head, []byte("\n"))
			return bytes.HasPrefix(line, []byte(`{"latency":`)) && bytes.Contains(line, []byte(`"thread":`)) && bytes.Contains(line, []byte(`"iter":`))
		},
		Read: readFortioLog,
	}
}

const (
	fortioThreads = 1 << 16 // most threads
	fortioSends   = 1 << 21 // sends that are kept to find intervals
	fortioWaited  = 200_000 // ns between an answer and the next send that show a pause
)

// fortioLine is one request.
type fortioLine struct {
	scan         jsonScan
	took, sent   int64
	thread, iter int64
	ok           bool
	details      []byte
}

func (l *fortioLine) read(line []byte) error {
	*l = fortioLine{scan: jsonScan{b: line}, thread: -1, iter: -1}
	l.scan.object(func(key []byte) {
		switch string(key) {
		case "latency":
			v, err := decimal(l.scan.number(), 1e9)
			if err != nil {
				l.scan.fail()
			}
			l.took = v
		case "timestamp":
			l.sent = l.scan.integer()
		case "thread":
			l.thread = l.scan.integer()
		case "iter":
			l.iter = l.scan.integer()
		case "ok":
			l.ok = l.scan.peek() == 't'
			l.scan.skip()
		case "details":
			l.details = l.scan.text()
		default:
			l.scan.skip()
		}
	})
	l.scan.end()
	switch {
	case l.scan.err != nil:
		return l.scan.err
	case l.sent <= 0 || l.thread < 0 || l.iter < 0 || l.took < 0:
		return fmt.Errorf("%w: a request without timestamp, thread or iter", errJSON)
	}
	return nil
}

// fortioThread is a thread within one run; files are appended to, so a file may
// hold several.
type fortioThread struct {
	last     int64 // number of its last request
	done     int64 // when that ended
	sends    []send
	paused   int
	requests int
	rate     steady
	paced    bool
}

// fortioReader keeps the threads by number, and those of earlier runs before.
type fortioReader struct {
	sink    *Sink
	threads map[int64][]*fortioThread
	at      map[int64]int // which one of a number the second reading has reached
	kept    int
	again   bool
}

func readFortioLog(_ context.Context, src *Source, sink *Sink) error {
	r := fortioReader{sink: sink, threads: map[int64][]*fortioThread{}, at: map[int64]int{}}
	var l fortioLine
	read := func(fn func(*fortioLine) error) func() error {
		return func() error {
			return lines(src, sink, func(line []byte) error {
				if err := l.read(line); err != nil {
					return err
				}
				return fn(&l)
			})
		}
	}
	first := func() error {
		before := *sink.report
		err := read(r.learn)()
		if err == nil {
			*sink.report = before // what is bad is so once
			r.decide()
		}
		return err
	}
	return src.twice(first, read(r.row))
}

// learn notes the send of a request.
func (r *fortioReader) learn(l *fortioLine) error {
	runs := r.threads[l.thread]
	if len(runs) == 0 || l.iter <= runs[len(runs)-1].last {
		if len(runs) == 0 && len(r.threads) == fortioThreads {
			return fmt.Errorf("%w: more than %d threads", errNumber, fortioThreads)
		}
		r.again = r.again || len(runs) > 0
		runs = append(runs, &fortioThread{last: -1})
		r.threads[l.thread] = runs
	}
	t := runs[len(runs)-1]
	t.requests++
	if t.last >= 0 && l.sent-t.done > fortioWaited {
		t.paused++
	}
	t.last, t.done = l.iter, l.sent+l.took
	if r.kept < fortioSends {
		r.kept++
		t.sends = append(t.sends, send{l.iter, l.sent})
	}
	return nil
}

// decide finds the interval of every thread.
func (r *fortioReader) decide() {
	paced, all := 0, 0
	least := 0.0
	for _, runs := range r.threads {
		for _, t := range runs {
			all++
			if 2*t.paused >= t.requests {
				if rate := t.rate.find(t.sends); rate > 0 {
					t.paced, paced = true, paced+1
					if least == 0 || rate < least {
						least = rate
					}
				}
			}
			t.sends, t.last = nil, -1
		}
	}
	if r.again {
		r.sink.Warn("the file holds several runs, one after another: fortio appends to it")
	}
	switch {
	case paced == all && all > 0:
		r.sink.Warn("requests were due by their number and the interval that the sends of their thread show (%.6g/s each)", least)
	case paced > 0:
		r.sink.Warn("only %d of %d threads show an interval: the requests of the others are counted from the send", paced, all)
	default:
		r.sink.Warn("the sends show no interval: requests are counted from the send")
		r.sink.Advise("-qps without -jitter, at a rate that the threads can hold, shows when each request was due")
	}
}

// row hands a request on, and those that were skipped before it.
func (r *fortioReader) row(l *fortioLine) error {
	runs := r.threads[l.thread]
	i := r.at[l.thread]
	if i < len(runs) && l.iter <= runs[i].last {
		i++
		r.at[l.thread] = i
	}
	if i >= len(runs) {
		return fmt.Errorf("%w: thread %d was not there before", errJSON, l.thread)
	}
	t := runs[i]
	g := sample.Group{}
	row := sample.Row{Sent: l.sent, Done: l.sent + l.took, Index: sample.NoIndex}
	row.Outcome, row.Status = l.outcome()
	switch {
	case t.paced && t.rate.left(send{l.iter, l.sent}):
		t.paced = false
		r.sink.Warn("from request %d of thread %d on the sends leave the interval of the thread: they are counted from the send", l.iter, l.thread)
	case t.paced:
		g.Model = sample.Open
		row.Intended = min(t.due(l.iter), l.sent)
		for skipped := t.last + 1; skipped < l.iter && l.iter-t.last < 1e6; skipped++ {
			if err := r.sink.Drop(&g, t.due(skipped), 1); err != nil {
				return stop(err)
			}
		}
	case 10*t.paused < t.requests:
		g.Model = sample.Closed
	}
	t.last = l.iter
	return stop(r.sink.Row(&g, &row))
}

// due is when the request of a number was due.
func (t *fortioThread) due(iter int64) int64 {
	return int64(t.rate.origin + float64(iter)*t.rate.gap)
}

// outcome reads the details: a status, or a text.
func (l *fortioLine) outcome() (sample.Outcome, int16) {
	if status, err := integer(l.details); err == nil && status >= 100 && status <= 999 {
		return answered(status), statusOf(status)
	}
	if l.ok {
		return sample.OK, 0
	}
	return failedWith(l.details), 0
}

package fold

import (
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// joiner puts the attempts of a request together over the whole set of rows.
//
// Only requests that have more than one attempt are held in memory. A first
// pass (see) finds their keys: the key of every resend, and of every row that
// names its request and is not the last attempt. Where a stream names requests
// but counts no attempts, all its keys are looked through for repeats. A second
// pass (gather) collects the rows with these keys.
//
// It also finds client spans that are parents of other client spans, so that
// nested layers of a client count once.
type joiner struct {
	selves  map[uint64]bool // spans that might be parents; true when one is
	whole   map[uint64]bool // operations that count as a whole; true when spans are within
	multi   map[uint64]bool // keys of requests with several attempts
	plain   []uint64        // request keys of rows with no attempt number
	lasts   bool            // some row says which attempt is the last
	resends bool            // some row is a resend
	keyed   bool            // some row names its request

	attempts []attempt
	pending  bool
}

type attempt struct {
	key uint64
	row sample.Row
	g   *group
}

// request is one user's request: all its attempts.
type request struct {
	g         *group
	due       int64
	sent      int64 // first attempt
	done      int64 // end of the last attempt
	firstByte int64
	tokens    int64
	resends   int64
	outcome   sample.Outcome
	grade     Grade
	early     bool
}

// see notes what the keys of a row say.
func (j *joiner) see(r *sample.Row) {
	if r.Self != 0 {
		if j.selves == nil {
			j.selves = map[uint64]bool{}
		}
		if _, ok := j.selves[r.Self]; !ok {
			j.selves[r.Self] = false
		}
		if r.Flags&sample.Operation != 0 {
			if j.whole == nil {
				j.whole = map[uint64]bool{}
			}
			if _, ok := j.whole[r.Self]; !ok {
				j.whole[r.Self] = false
			}
		}
	}
	if r.Key == 0 {
		return
	}
	named := r.Flags&sample.RequestKey != 0
	j.keyed = j.keyed || named
	j.lasts = j.lasts || named && r.Flags&sample.LastAttempt != 0
	switch {
	case r.Attempt > 0:
		j.resends = true
		j.mark(r.Key)
	case named && r.Flags&sample.LastAttempt == 0:
		j.plain = append(j.plain, r.Key)
	}
}

func (j *joiner) mark(key uint64) {
	if j.multi == nil {
		j.multi = map[uint64]bool{}
	}
	j.multi[key] = true
}

// needsKeys reports whether the rows must be read once more.
func (j *joiner) needsKeys() bool {
	if len(j.plain) > 0 {
		if j.lasts {
			for _, k := range j.plain {
				j.mark(k)
			}
		} else {
			slices.Sort(j.plain)
			for i := 1; i < len(j.plain); i++ {
				if j.plain[i] == j.plain[i-1] {
					j.mark(j.plain[i])
				}
			}
		}
		j.plain = nil
	}
	j.pending = len(j.multi) > 0 || len(j.selves) > 0
	return j.pending
}

// gather takes the rows of the second pass.
func (j *joiner) gather(r *sample.Row) {
	if r.Key == 0 || r.Flags&sample.RequestKey != 0 {
		return
	}
	if _, ok := j.whole[r.Key]; ok && r.Flags&sample.Operation == 0 {
		j.whole[r.Key] = true
		return
	}
	if _, ok := j.selves[r.Key]; ok {
		j.selves[r.Key] = true
	}
}

// resolve ends the second pass.
func (j *joiner) resolve() {
	for k, parent := range j.selves {
		if !parent {
			delete(j.selves, k)
		}
	}
	for k, holds := range j.whole {
		if !holds {
			delete(j.whole, k)
		}
	}
	j.pending = false
}

// nested reports whether the span is a client span around another one.
func (j *joiner) nested(self uint64) bool {
	return self != 0 && !j.pending && j.selves[self]
}

// within reports whether the span is part of an operation that counts as a whole.
func (j *joiner) within(b *sample.Batch, i int) bool {
	if len(j.whole) == 0 || j.pending || len(b.Key) == 0 || !j.whole[b.Key[i]] {
		return false
	}
	return len(b.Flags) == 0 || b.Flags[i]&(sample.Operation|sample.RequestKey) == 0
}

// several reports whether the row belongs to a request with several attempts.
func (j *joiner) several(r *sample.Row) bool { return r.Key != 0 && j.multi[r.Key] }

// hold keeps an attempt of a request with several.
func (j *joiner) hold(g *group, r *sample.Row) {
	j.attempts = append(j.attempts, attempt{r.Key, *r, g})
}

// joined returns the requests made of the held attempts, by due time. Under one
// parent span requests stand one after another, each beginning with attempt 0;
// a key that names the request holds exactly one.
func (f *folder) joined() []request {
	a := f.join.attempts
	slices.SortFunc(a, func(x, y attempt) int {
		if x.key != y.key {
			if x.key < y.key {
				return -1
			}
			return 1
		}
		return cmp3(x.row.Sent, y.row.Sent, int64(x.row.Attempt), int64(y.row.Attempt), x.row.Done, y.row.Done,
			int64(x.row.Outcome), int64(y.row.Outcome))
	})
	var out []request
	for i := 0; i < len(a); {
		n := i + 1
		for n < len(a) && a[n].key == a[i].key && (a[n].row.Flags&sample.RequestKey != 0 || a[n].row.Attempt > 0) {
			n++
		}
		out = append(out, f.request(a[i:n]))
		i = n
	}
	slices.SortFunc(out, func(x, y request) int { return cmp3(x.due, y.due, x.sent, y.sent, x.done, y.done) })
	f.join.attempts = nil
	if n := len(out); n > 0 {
		f.lastDue = max(f.lastDue, out[n-1].due)
	}
	return out
}

// request folds the attempts of one request, in order of their sends.
func (f *folder) request(a []attempt) request {
	q := f.single(a[0].g, &a[0].row)
	q.resends = int64(a[0].row.Attempt)
	for i := range a {
		r := &a[i].row
		due, grade, _ := f.due(a[i].g, r)
		q.due, q.grade = min(q.due, due), max(q.grade, grade)
		q.resends = max(q.resends, int64(r.Attempt), int64(i))
		if i > 0 && r.Done >= q.done {
			q.done, q.outcome, q.firstByte, q.tokens = r.Done, r.Outcome, r.FirstByte, r.Tokens
		}
	}
	return q
}

// single makes a request of one attempt.
func (f *folder) single(g *group, r *sample.Row) request {
	due, grade, early := f.due(g, r)
	return request{
		g: g, due: due, sent: r.Sent, done: r.Done, firstByte: r.FirstByte, tokens: r.Tokens,
		resends: int64(r.Attempt), outcome: r.Outcome, grade: grade, early: early,
	}
}

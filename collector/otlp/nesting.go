package otlp

// spanRef remembers a span of the request, for as long as the request lasts. It
// has no pointers, as there is one for each span.
type spanRef struct {
	trace      [16]byte
	id, parent [8]byte // parent is zero when there is none
	at         extent
	row        int32 // its row, or negative
	batch      int16 // the batch of the row
	client     bool
	operation  bool
}

// extent is a place in the request's bytes.
type extent struct{ from, to uint32 }

func (r *spanRef) hasParent() bool { return r.parent != [8]byte{} }

// nesting knows which client spans of a request stand around others.
type nesting struct {
	table    []int32  // open addressing by hash of the ids; index into refs plus one
	outerOf  []int32  // for each ref, the client span that is its parent, or -1
	at       []extent // for each ref, the span; the second pass builds refs anew
	outer    []bool   // for each ref, whether it is the parent of a client span that is a request
	inner    []bool   // for each ref, whether it is within an operation that is the request
	loose    []bool   // for each ref, whether it is a client span under a client span or an unknown one
	anyOuter bool
	wanted   bool // a scope asks for spans to be named
}

// maxDepth is how many enclosing client spans are looked at.
const maxDepth = 8

// find relates client spans to their parents. It returns false when no client
// span has a parent, which is the usual case and costs next to nothing.
func (n *nesting) find(refs []spanRef) bool {
	wanted := n.wanted
	n.anyOuter, n.wanted = false, false
	any := false
	for i := range refs {
		if refs[i].client && refs[i].hasParent() {
			any = true
			break
		}
	}
	if !any {
		n.loose = n.loose[:0]
		return wanted
	}
	n.index(refs)
	n.outerOf, n.at = sized(n.outerOf, len(refs)), sized(n.at, len(refs))
	n.outer, n.loose = sized(n.outer, len(refs)), sized(n.loose, len(refs))
	n.inner = sized(n.inner, len(refs))
	for i := range refs {
		r := &refs[i]
		n.outerOf[i], n.at[i] = -1, r.at
		if !r.client || !r.hasParent() {
			continue
		}
		p := n.lookup(refs, &r.trace, &r.parent)
		switch {
		case p < 0:
			n.loose[i] = true
		case p != i && refs[p].client:
			n.outerOf[i], n.anyOuter = int32(p), true
			n.loose[i] = true
		}
	}
	for i := range refs {
		p := n.outerOf[i]
		if p < 0 {
			continue
		}
		if n.inner[i] = !refs[i].operation && n.within(refs, p); !n.inner[i] {
			n.outer[p] = true
		}
	}
	return true
}

// within reports whether a client span or one around it is an operation.
func (n *nesting) within(refs []spanRef, at int32) bool {
	for depth := 0; at >= 0 && depth < maxDepth; depth++ {
		if refs[at].operation {
			return true
		}
		at = n.outerOf[at]
	}
	return false
}

// index enters all spans into the table.
func (n *nesting) index(refs []spanRef) {
	size := 16
	for size < 2*len(refs) {
		size *= 2
	}
	n.table = sized(n.table, size)
	for i := range refs {
		at := int(hashSpan(refs[i].trace[:], refs[i].id[:])) & (size - 1)
		for n.table[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		n.table[at] = int32(i + 1)
	}
}

// lookup returns the index of a span, or -1.
func (n *nesting) lookup(refs []spanRef, trace *[16]byte, id *[8]byte) int {
	mask := len(n.table) - 1
	for at := int(hashSpan(trace[:], id[:])) & mask; n.table[at] != 0; at = (at + 1) & mask {
		i := int(n.table[at] - 1)
		if refs[i].id == *id && refs[i].trace == *trace {
			return i
		}
	}
	return -1
}

// counts reports whether a client span is a request, not a layer around one or a
// part of one.
func (n *nesting) counts(ref int) bool { return !n.outer[ref] && !n.inner[ref] }

// sized returns s with n zero elements.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// inheritAll lets the span that was parsed last take over what it lacks from
// the client spans around it, the nearest first.
func (d *Decoder) inheritAll(ref int) error {
	at := d.nest.outerOf[ref]
	for depth := 0; at >= 0 && depth < maxDepth; depth++ {
		if err := d.outer.parse(d.table, d.bytes(d.nest.at[at])); err != nil {
			return err
		}
		d.span.inherit(&d.outer.attributes)
		at = d.nest.outerOf[at]
	}
	return nil
}

// nameSpans gives the rows of a batch their own names, as a parent would be
// named, where spans of the batch are nested in ways that only other requests
// can tell.
func (d *Decoder) nameSpans() {
	for i := range d.nested.loose {
		if r := &d.refs[i]; d.nested.loose[i] && r.row >= 0 {
			d.router.At(int(r.batch)).Nesting = true
		}
	}
	for i := range d.refs {
		r := &d.refs[i]
		if r.row < 0 || !d.router.At(int(r.batch)).Nesting {
			continue
		}
		d.router.At(int(r.batch)).SetSelf(int(r.row), hashSpan(r.trace[:], r.id[:]))
	}
}

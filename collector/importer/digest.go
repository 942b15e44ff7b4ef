package importer

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// digest names the chunks of an import: by the run, the file, the place among
// the chunks and all that a chunk holds. The same file gives the same names.
type digest struct {
	hash  hash.Hash
	begin []byte // state after run and file
	n     uint64
	buf   []byte

	// origin is what times of a file without dates count from, so that the file is
	// the same wherever its run is put.
	origin int64
}

func newDigest(run, file string) digest {
	d := digest{hash: sha256.New()}
	d.text("plimsoll.import/1")
	d.text(run)
	d.text(file)
	d.drain()
	if m, ok := d.hash.(encoding.BinaryMarshaler); ok {
		d.begin, _ = m.MarshalBinary() // of a hash of the standard library: never fails
	}
	return d
}

// id names a chunk.
func (d *digest) id(b *sample.Batch) journal.ID {
	if m, ok := d.hash.(encoding.BinaryUnmarshaler); ok {
		_ = m.UnmarshalBinary(d.begin) // our own state
	}
	d.n++
	d.number(d.n)
	for i := range b.Groups {
		d.group(&b.Groups[i])
	}
	d.number(uint64(b.Len()))
	for i := range b.Sent {
		d.row(b, i)
	}
	for i := range b.Series {
		s := &b.Series[i]
		for _, t := range []string{s.Source, s.Service, s.Scope, s.Name, s.Attributes, s.Unit} {
			d.text(t)
		}
		d.number(uint64(s.Kind))
	}
	for i := range b.Points {
		d.point(&b.Points[i])
	}
	d.drain()
	var id journal.ID
	copy(id[:], d.hash.Sum(nil))
	return id
}

func (d *digest) group(g *sample.Group) {
	for _, t := range []string{g.Source, g.Generator, g.Scenario, g.Step, g.Process} {
		d.text(t)
	}
	d.number(uint64(g.Deadline))
	d.number(uint64(g.ExpectedInterval))
	d.number(math.Float64bits(g.Rate))
	d.number(uint64(g.Model))
}

func (d *digest) row(b *sample.Batch, i int) {
	r := b.Row(i)
	le := binary.LittleEndian
	d.buf = le.AppendUint64(d.buf, uint64(d.since(r.Sent)))
	d.buf = le.AppendUint64(d.buf, uint64(r.Done-r.Sent))
	d.buf = le.AppendUint64(d.buf, uint64(d.since(r.Intended)))
	d.buf = le.AppendUint32(d.buf, uint32(r.Group)|uint32(r.Outcome)<<16|uint32(r.Flags)<<24)
	d.buf = le.AppendUint32(d.buf, uint32(uint16(r.Status))|uint32(r.Attempt)<<16)
	if r.Index != sample.NoIndex || r.FirstByte|int64(r.Key|r.Self)|r.Tokens != 0 {
		d.buf = le.AppendUint64(d.buf, uint64(r.Index))
		d.buf = le.AppendUint64(d.buf, uint64(d.since(r.FirstByte)))
		d.buf = le.AppendUint64(d.buf, r.Key)
		d.buf = le.AppendUint64(d.buf, r.Self)
		d.buf = le.AppendUint64(d.buf, uint64(r.Tokens))
	}
	if len(d.buf) > 4096 {
		d.drain()
	}
}

func (d *digest) point(p *sample.Point) {
	d.number(uint64(p.Series))
	d.number(uint64(d.since(p.Start)))
	d.number(uint64(d.since(p.Time)))
	d.number(math.Float64bits(p.Value))
	if h := p.Histogram; h != nil {
		d.number(h.Count)
		for _, n := range h.Buckets {
			d.number(n)
		}
	}
	if len(d.buf) > 4096 {
		d.drain()
	}
}

// since is a time from the origin; none stays none.
func (d *digest) since(at int64) int64 {
	if at == 0 {
		return 0
	}
	return at - d.origin
}

func (d *digest) number(v uint64) { d.buf = binary.LittleEndian.AppendUint64(d.buf, v) }

func (d *digest) text(s string) {
	d.number(uint64(len(s)))
	d.buf = append(d.buf, s...)
}

func (d *digest) drain() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

package importer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// This is as much of the SQLite file format (https://www.sqlite.org/fileformat2.html)
// as reading one table from first row to last takes: pages, the table B-tree,
// records and their overflow.

var errSQLite = errors.New("damaged SQLite database")

const (
	sqliteMagic  = "SQLite format 3\x00"
	sqliteHeader = 100
	sqliteMost   = 1 << 20 // bytes of one record
	sqliteDepth  = 32
)

// sqliteDB is an open database.
type sqliteDB struct {
	r      io.ReaderAt
	page   int64 // bytes of a page
	usable int64 // of them, for content
	pages  int64
	wal    bool // the newest changes may lie in another file
	seen   int64
}

// sqliteValue is a column of a row.
type sqliteValue struct {
	null  bool
	real  float64 // of numbers
	whole int64   // of numbers
	text  []byte  // of text and blobs; valid until the next row
}

func openSQLite(r io.ReaderAt, size int64) (*sqliteDB, error) {
	var h [sqliteHeader]byte
	if _, err := r.ReadAt(h[:], 0); err != nil || string(h[:16]) != sqliteMagic {
		return nil, fmt.Errorf("%w: no header", errSQLite)
	}
	db := &sqliteDB{r: r, page: int64(binary.BigEndian.Uint16(h[16:])), wal: h[18] == 2}
	if db.page == 1 {
		db.page = 65536
	}
	db.usable = db.page - int64(h[20])
	db.pages = size / max(db.page, 1)
	switch encoding := binary.BigEndian.Uint32(h[56:]); {
	case db.page < 512 || db.page&(db.page-1) != 0 || db.usable < 480:
		return nil, fmt.Errorf("%w: pages of %d bytes", errSQLite, db.page)
	case encoding > 1:
		return nil, fmt.Errorf("read SQLite database: text is encoded as UTF-16, only UTF-8 is read")
	}
	return db, nil
}

// table finds a table: its first page and the names of its columns.
func (db *sqliteDB) table(name string) (root int64, columns []string, err error) {
	err = db.rows(1, func(v []sqliteValue) error {
		if len(v) >= 5 && string(v[0].text) == "table" && strings.EqualFold(string(v[1].text), name) {
			root, columns = v[3].whole, sqliteColumns(string(v[4].text))
		}
		return nil
	})
	if err == nil && root == 0 {
		err = fmt.Errorf("read SQLite database: it has no table %q", name)
	}
	return root, columns, err
}

// sqliteColumns reads the names of columns from the statement that created the
// table.
func sqliteColumns(sql string) []string {
	open, end := strings.IndexByte(sql, '('), strings.LastIndexByte(sql, ')')
	if open < 0 || end < open {
		return nil
	}
	var names []string
	depth, start := 0, open+1
	for i := start; i <= end; i++ {
		switch c := sql[i]; {
		case c == '(':
			depth++
		case c == ')' && i < end:
			depth--
		case c == ',' && depth == 0 || i == end:
			if f := strings.Fields(sql[start:i]); len(f) > 0 {
				names = append(names, strings.ToLower(strings.Trim(f[0], "\"`[]'")))
			}
			start = i + 1
		}
	}
	return names
}

// rows calls fn with every row of the table that begins at a page, in the order
// of row ids.
func (db *sqliteDB) rows(root int64, fn func([]sqliteValue) error) error {
	db.seen = 0
	w := &sqliteWalk{db: db, fn: fn}
	return w.walk(root, 0)
}

type sqliteWalk struct {
	db     *sqliteDB
	fn     func([]sqliteValue) error
	bytes  [sqliteDepth][]byte // pages on the way down
	record []byte
	values []sqliteValue

	content int64 // bytes that the rest of the cells of a page may have
}

// load reads a page.
func (db *sqliteDB) load(n int64, buf []byte) error {
	if db.seen++; n < 1 || n > db.pages || db.seen > db.pages+1 {
		return fmt.Errorf("%w: page %d of %d", errSQLite, n, db.pages)
	}
	if _, err := db.r.ReadAt(buf, (n-1)*db.page); err != nil {
		return fmt.Errorf("%w: page %d: %w", errSQLite, n, err)
	}
	return nil
}

func (w *sqliteWalk) walk(n int64, depth int) error {
	if depth == sqliteDepth {
		return fmt.Errorf("%w: page %d lies too deep", errSQLite, n)
	}
	if w.bytes[depth] == nil {
		w.bytes[depth] = make([]byte, w.db.page)
	}
	p := w.bytes[depth]
	if err := w.db.load(n, p); err != nil {
		return err
	}
	at := 0
	if n == 1 {
		at = sqliteHeader
	}
	kind, cells := p[at], int(binary.BigEndian.Uint16(p[at+3:]))
	head := at + 8
	if kind == 5 {
		head += 4
	}
	if kind != 5 && kind != 13 || head+2*cells > len(p) {
		return fmt.Errorf("%w: page %d is no page of a table", errSQLite, n)
	}
	w.content = int64(len(p)) // cells of one page do not overlap
	for i := range cells {
		cell := int(binary.BigEndian.Uint16(p[head+2*i:]))
		if cell+4 > len(p) {
			return fmt.Errorf("%w: cell %d of page %d", errSQLite, i, n)
		}
		var err error
		if kind == 5 {
			err = w.walk(int64(binary.BigEndian.Uint32(p[cell:])), depth+1)
		} else if err = w.cell(p[cell:]); errors.Is(err, errSQLite) {
			err = fmt.Errorf("cell %d of page %d: %w", i, n, err)
		}
		if err != nil {
			return err
		}
	}
	if kind == 5 {
		return w.walk(int64(binary.BigEndian.Uint32(p[at+8:])), depth+1)
	}
	return nil
}

// cell reads a row.
func (w *sqliteWalk) cell(b []byte) error {
	size, n := sqliteVarint(b)
	_, m := sqliteVarint(b[min(n, len(b)):])
	if n == 0 || m == 0 || size < 0 || size > sqliteMost {
		return errSQLite
	}
	b = b[n+m:]
	local := w.db.local(size)
	if w.content -= local; local > int64(len(b)) || w.content < 0 {
		return errSQLite
	}
	w.record = append(w.record[:0], b[:local]...)
	if local < size {
		if int64(len(b)) < local+4 {
			return errSQLite
		}
		if err := w.overflow(int64(binary.BigEndian.Uint32(b[local:])), size); err != nil {
			return err
		}
	}
	if err := w.decode(); err != nil {
		return err
	}
	return w.fn(w.values)
}

// local is how much of a record lies in its own page.
func (db *sqliteDB) local(size int64) int64 {
	most, least := db.usable-35, (db.usable-12)*32/255-23
	if size <= most {
		return size
	}
	if n := least + (size-least)%(db.usable-4); n <= most {
		return n
	}
	return least
}

// overflow reads the rest of a record.
func (w *sqliteWalk) overflow(n, size int64) error {
	p := make([]byte, w.db.page)
	for int64(len(w.record)) < size {
		if err := w.db.load(n, p); err != nil {
			return err
		}
		w.record = append(w.record, p[4:4+min(w.db.usable-4, size-int64(len(w.record)))]...)
		n = int64(binary.BigEndian.Uint32(p))
	}
	return nil
}

// decode splits the record into values.
func (w *sqliteWalk) decode() error {
	w.values = w.values[:0]
	head, n := sqliteVarint(w.record)
	if n == 0 || head < int64(n) || head > int64(len(w.record)) {
		return errSQLite
	}
	types, body := w.record[n:head], w.record[head:]
	for len(types) > 0 {
		kind, n := sqliteVarint(types)
		if n == 0 || kind < 0 {
			return errSQLite
		}
		types = types[n:]
		v, size := sqliteValue{}, int64(0)
		switch {
		case kind == 0:
			v.null = true
		case kind <= 4:
			size = kind
		case kind == 5:
			size = 6
		case kind == 6, kind == 7:
			size = 8
		case kind == 8, kind == 9:
			v.whole = kind - 8
		case kind >= 12:
			size = (kind - 12) / 2
		default:
			return errSQLite
		}
		if size > int64(len(body)) {
			return errSQLite
		}
		v.fill(kind, body[:size])
		body = body[size:]
		w.values = append(w.values, v)
	}
	return nil
}

func (v *sqliteValue) fill(kind int64, b []byte) {
	switch {
	case kind >= 12:
		v.text = b
		return
	case kind == 7:
		v.real = math.Float64frombits(binary.BigEndian.Uint64(b))
		v.whole = int64(min(max(v.real, -1<<62), 1<<62))
		return
	case len(b) > 0:
		v.whole = int64(int8(b[0]))
		for _, c := range b[1:] {
			v.whole = v.whole<<8 | int64(c)
		}
	}
	v.real = float64(v.whole)
}

// sqliteVarint reads a number of one to nine bytes; n is 0 when it is cut off.
func sqliteVarint(b []byte) (v int64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | int64(b[i]), 9
		}
		v = v<<7 | int64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

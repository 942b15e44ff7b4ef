package main

import (
	"fmt"
	"io"
	"time"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

const (
	quiet     = 2 * time.Second // before something is said where nobody may be looking
	everyLine = 5 * time.Second
	everyLook = 200 * time.Millisecond
)

// meter shows on standard error how much of a file has been read: at once on a
// terminal, else in lines once it takes longer.
type meter struct {
	r    io.Reader
	w    io.Writer
	now  func() time.Time
	name string
	size int64 // 0 when not known
	live bool  // w is a terminal

	begin, last time.Time
	read        int64
	shown       bool
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.read += int64(n)
	now := m.now()
	every := everyLine
	if m.live {
		every = everyLook
	}
	if m.live && now.Sub(m.begin) >= everyLook || now.Sub(m.begin) >= quiet {
		if now.Sub(m.last) >= every {
			m.last = now
			m.show(now)
		}
	}
	return n, err
}

func (m *meter) show(now time.Time) {
	const mib = 1 << 20
	text := fmt.Sprintf("%s: %.1f MiB", show.Text(m.name), float64(m.read)/mib)
	if m.size > 0 {
		text += fmt.Sprintf(" of %.1f (%.0f %%)", float64(m.size)/mib, 100*float64(m.read)/float64(m.size))
	}
	text += fmt.Sprintf(", %.0f s", now.Sub(m.begin).Seconds())
	if m.live {
		m.shown = true
		fmt.Fprintf(m.w, "\r%s\x1b[K", text)
		return
	}
	fmt.Fprintln(m.w, text)
}

// end leaves the line.
func (m *meter) end() {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}

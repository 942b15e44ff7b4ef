package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/grammar"
)

// ErrUnreadable says that a file cannot be read: it is of no known format, or
// its content is broken.
var ErrUnreadable = errors.New("cannot be read")

// ImportQuery says how to import a file.
type ImportQuery struct {
	File     string // name of the file; empty for a pipe
	Run      string // to import into; empty to derive it from name and content
	Format   string // empty to find it by content
	Live     bool   // what writes the file is still at work
	Schedule grammar.Schedule
	Deadline grammar.Deadline
	Ended    *time.Time // when the run ended, for files without dates
	Written  *time.Time // when the file was last written
}

// Importer reads the files of generators.
type Importer interface {
	// Import reads a file to its end and keeps what it holds. An error that is
	// the file's is ErrUnreadable.
	Import(ctx context.Context, q ImportQuery, file io.Reader) (*wire.Imported, error)
}

// importIdle is how long a writer may pause: a generator on a pipe writes
// nothing while the service answers nothing.
const importIdle = 10 * time.Minute

// importParams are the parameters of an import.
func importParams() []string {
	return []string{"name", "run", "format", "live", "schedule", "deadline_s", "first_byte_deadline_s", "ended", "written"}
}

// importFile takes a file as it comes. It is the one call whose body may be of
// any length: it is never held in memory.
func (s *Server) importFile(w http.ResponseWriter, r *http.Request) error {
	q, err := importQuery(r)
	if err != nil {
		return err
	}
	if s.deps.Import == nil {
		return &problem{status: http.StatusNotImplemented, code: "no_import", text: "this server imports no files"}
	}
	control := http.NewResponseController(w)
	out, err := s.deps.Import.Import(r.Context(), q, &patient{
		r: r.Body, control: control, until: func() time.Time { return s.deps.Now().Add(importIdle) },
	})
	_ = control.SetReadDeadline(time.Time{}) // as in Read
	if errors.Is(err, ErrUnreadable) {
		return &problem{
			status: http.StatusUnprocessableEntity, code: "unreadable", text: err.Error(),
			hint: "what was kept before the error stays; the parameter format names the format",
		}
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func importQuery(r *http.Request) (ImportQuery, error) {
	var in ImportQuery
	q, err := values(r, importParams()...)
	if err != nil {
		return in, err
	}
	in.File, in.Run, in.Format, in.Live = q.Get("name"), q.Get("run"), q.Get("format"), q.Get("live") == "1"
	if in.Deadline.EndS, err = seconds(q, "deadline_s"); err != nil {
		return in, err
	}
	if in.Deadline.FirstByteS, err = seconds(q, "first_byte_deadline_s"); err != nil {
		return in, err
	}
	if in.Ended, err = instant(q, "ended"); err != nil {
		return in, err
	}
	if in.Written, err = instant(q, "written"); err != nil {
		return in, err
	}
	if text := q.Get("schedule"); text != "" {
		if in.Schedule, err = grammar.ParseSchedule(text); err != nil {
			return in, badParameter("schedule", err.Error(), "")
		}
	}
	return in, nil
}

// patient moves the deadline of a connection with every read.
type patient struct {
	r       io.Reader
	control *http.ResponseController
	until   func() time.Time
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(p.until()) // some writers know no deadlines
	return p.r.Read(b)
}

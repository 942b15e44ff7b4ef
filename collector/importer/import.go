package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Decoder turns OTLP messages into batches, which are valid until the next
// call. Decoder of collector/otlp is one.
type Decoder interface {
	Traces(body []byte) ([]*sample.Batch, error)
	TracesJSON(body []byte) ([]*sample.Batch, error)
	Metrics(body []byte) ([]*sample.Batch, error)
	MetricsJSON(body []byte) ([]*sample.Batch, error)
}

// Input is a file to import.
type Input struct {
	Name      string    // of the file; empty for standard input
	Reader    io.Reader // read once, to the end
	Live      bool      // a pipe whose writer may still be at work
	Format    string    // name of a format; empty to find it by content
	RunID     string    // run to import into; empty to derive it from name and content
	OneRun    bool      // also what names a run of its own belongs to this one
	Scheduled bool      // the user declares a schedule
	OTLP      Decoder   // nil: OTLP files are not read
	Ended     int64     // when the run ended, for files without dates; 0 when the user does not say
	Written   int64     // when the file was last written; 0 when not known
	// Begin is called once the format and the run are known; it may be nil.
	Begin func(*Report) error
	// Progress is called after every chunk; it may be nil.
	Progress func(*Report)
}

// Import reads a file and hands its rows on. The report is never nil and says
// what was read also when there is an error: what was kept until then stays.
func Import(ctx context.Context, in Input, keep Keep) (*Report, error) {
	report := &Report{RunID: in.RunID, RunName: stem(in.Name)}
	src, err := open(plainName(in.Name), in.Reader, in.Live)
	if err != nil {
		return report, fmt.Errorf("open %s: %w", display(in.Name), err)
	}
	defer src.closing()
	src.ended, src.written = in.Ended, in.Written
	format, err := find(in.Format, src.Head())
	if err != nil {
		return report, fmt.Errorf("open %s: %w", display(in.Name), err)
	}
	report.Format, report.Title = format.Name, format.Title
	if report.RunName == "" {
		report.RunName = format.Name
	}
	mark := fingerprint(&format, src.Head())
	if report.RunID == "" {
		report.RunID = slug(report.RunName) + "-" + mark
	}
	if in.Begin != nil {
		if err := in.Begin(report); err != nil {
			return report, err
		}
	}
	sink := &Sink{
		Scheduled: in.Scheduled, OTLP: in.OTLP,
		ctx: ctx, src: src, keep: keep, oneRun: in.OneRun || in.RunID != "", format: &format, report: report,
		series: map[sample.Series]uint32{}, chunk: newDigest(report.RunID, src.Name),
		source: src.Name + "#" + mark[:6],
	}
	sink.pulse = func() {
		report.Bytes = src.Offset()
		if in.Progress != nil {
			in.Progress(report)
		}
	}
	if err := format.Read(ctx, src, sink); err != nil {
		return report, err
	}
	if err := sink.flush(); err != nil {
		return report, err
	}
	if err := sink.keepNotes(); err != nil {
		return report, err
	}
	report.Truncated, report.Bytes = src.cut, src.Offset()
	return report, report.close()
}

func display(name string) string {
	if name == "" {
		return "standard input"
	}
	return name
}

// plainName is the last part of a name without the ending of its compression.
func plainName(name string) string {
	if name == "" {
		return ""
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	for _, end := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// stem is the plain name without its ending.
func stem(name string) string {
	name = plainName(name)
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}

// fingerprint tells files of one name apart, and is the same for a file that has
// grown.
func fingerprint(f *Format, head []byte) string {
	if !f.Document {
		head = head[:min(len(head), minHead)]
	}
	sum := sha256.Sum256(head)
	return hex.EncodeToString(sum[:5])
}

// slug keeps of a name what an id may hold everywhere.
func slug(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 64 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-."); s != "" {
		return s
	}
	return "import"
}

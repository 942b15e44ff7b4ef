package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/grammar"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/client"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/importing"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/importer"
)

// imports has the flags of the command.
type imports struct {
	remote

	run, format, schedule, ended, dataDir, mapping string
	deadline                                       cli.Deadline
}

func (i *imports) flags() (cli.Command, func(*cli.Env) ([]string, error)) {
	cmd := cli.Command{
		Name: "import", Synopsis: "FILE…", Least: 1, Most: 10_000,
		Help: `Reads result files of load generators into runs. "-" is standard input, so that
'vegeta attack … | plimsoll import -' works while the attack runs. Compressed files are read as
they are, and the format is found by the content. Without --run each file is a run of its own,
and the same file again changes nothing.
Formats: ` + wrapped(importer.Names(), 92),
	}
	fs := cmd.NewFlags()
	i.remote.flags(fs)
	fs.StringVar(&i.run, "run", "", "`ID` of the run to import into")
	fs.StringVar(&i.format, "format", "", "`FORMAT` of the files, if the content does not tell")
	fs.StringVar(&i.schedule, "schedule", "", "`SCHEDULE` of the arrivals, such as 'constant:100/s x 60s'; it becomes a declaration of the run")
	fs.Var(&i.deadline, "deadline", "patience of the client, a `DURATION`, or in parts, as ttft:500ms,e2e:5s; it becomes a declaration of the run")
	fs.StringVar(&i.ended, "ended", "", "`TIME` when the run ended (RFC 3339), for files that hold no date")
	fs.StringVar(&i.dataDir, "data-dir", "", "`DIR` of a server that is not running: import into it directly (not taken from the environment)")
	fs.StringVar(&i.mapping, "mapping", "", "mapping `FILE` for OTLP files, with --data-dir")
	return cmd, func(env *cli.Env) ([]string, error) {
		lookup := env.Lookup
		env.Lookup = func(name string) (string, bool) {
			if name == cli.Twin("data-dir") { // it is meant for the server
				return "", false
			}
			return lookup(name)
		}
		return cmd.Parse(env, fs)
	}
}

// wrapped breaks a list of words into lines.
func wrapped(words []string, width int) string {
	var b strings.Builder
	column := len("Formats: ")
	for i, w := range words {
		if column+len(w)+2 > width {
			b.WriteString("\n")
			column = 0
		}
		b.WriteString(w)
		if i < len(words)-1 {
			b.WriteString(", ")
		}
		column += len(w) + 2
	}
	return b.String() + "."
}

func importFiles(ctx context.Context, env *cli.Env) error {
	var i imports
	_, parse := i.flags()
	names, err := parse(env)
	if err != nil {
		return err
	}
	q, err := i.query()
	if err != nil {
		return err
	}
	send, done, err := i.target(env)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err = importOne(ctx, env, q, name, send); err != nil {
			break
		}
	}
	if closing := done(); err == nil {
		err = closing
	}
	return err
}

// query is what is the same for all files.
func (i *imports) query() (api.ImportQuery, error) {
	q := api.ImportQuery{Run: i.run, Format: i.format}
	var err error
	if i.schedule != "" {
		if q.Schedule, err = grammar.ParseSchedule(i.schedule); err != nil {
			return q, &cli.UsageError{Err: err}
		}
	}
	q.Deadline = i.deadline.Deadline
	if i.ended != "" {
		t, err := time.Parse(time.RFC3339Nano, i.ended)
		if err != nil {
			return q, cli.Usagef("--ended: %q is not a time like 2026-11-30T10:00:00Z", i.ended)
		}
		q.Ended = &t
	}
	return q, nil
}

// sender imports one file.
type sender func(ctx context.Context, q api.ImportQuery, file io.Reader) (*wire.Imported, error)

// target is where files go: a server, or a data directory.
func (i *imports) target(env *cli.Env) (sender, func() error, error) {
	if i.dataDir == "" {
		c, err := i.dial(env)
		if err != nil {
			return nil, nil, err
		}
		return i.upload(c), func() error { return nil }, nil
	}
	table := convention.Default()
	if i.mapping != "" {
		data, err := settings.ReadFile(i.mapping)
		if err != nil {
			return nil, nil, fmt.Errorf("read mapping: %w", err)
		}
		m, err := convention.ParseMapping(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", i.mapping, err)
		}
		table = convention.New(m)
	}
	log := slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	local, closing, err := importing.Open(i.dataDir, table, env.Now, log)
	if err != nil {
		return nil, nil, err
	}
	return local.Import, closing, nil
}

// upload sends files to a server, which reads them.
func (i *imports) upload(c *client.Client) sender {
	return func(ctx context.Context, q api.ImportQuery, file io.Reader) (*wire.Imported, error) {
		v := url.Values{}
		set := func(name, value string) {
			if value != "" {
				v.Set(name, value)
			}
		}
		set("name", q.File)
		set("run", q.Run)
		set("format", q.Format)
		set("schedule", i.schedule)
		if q.Live {
			v.Set("live", "1")
		}
		i.deadline.Ask(v)
		for name, t := range map[string]*time.Time{"ended": q.Ended, "written": q.Written} {
			if t != nil {
				v.Set(name, t.UTC().Format(time.RFC3339Nano))
			}
		}
		out, err := c.Import(ctx, v, file)
		return &out, err
	}
}

// importOne imports the file with the name.
func importOne(ctx context.Context, env *cli.Env, q api.ImportQuery, name string, send sender) error {
	file, size, err := openFile(env, name, &q)
	if err != nil {
		return err
	}
	if name == "-" {
		name = "standard input"
	}
	meter := &meter{r: file, w: env.Stderr, now: env.Now, name: name, size: size, begin: env.Now()}
	if f, ok := env.Stderr.(*os.File); ok {
		meter.live = terminal(f)
	}
	out, err := send(ctx, q, meter)
	meter.end()
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", show.Text(name), err)
	}
	return show.Imported(env.Stdout, out)
}

// openFile opens a file or standard input and says what is known about it.
func openFile(env *cli.Env, name string, q *api.ImportQuery) (file io.ReadCloser, size int64, err error) {
	var f *os.File
	if name == "-" {
		q.Live = true
		file = io.NopCloser(env.Stdin)
		f, _ = env.Stdin.(*os.File)
	} else {
		if f, err = os.Open(name); err != nil {
			return nil, 0, err
		}
		file, q.File = f, filepath.Base(name)
	}
	if f == nil {
		return file, 0, nil
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("look at %s: %w", name, err)
	case info.IsDir():
		_ = f.Close() // it was only looked at
		return nil, 0, fmt.Errorf("import %s: it is a directory", name)
	}
	q.Live = !info.Mode().IsRegular()
	if !q.Live {
		written := info.ModTime()
		q.Written, size = &written, info.Size()
	}
	return file, size, nil
}

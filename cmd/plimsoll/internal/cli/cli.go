// Package cli has what the subcommands share: where they read and write, how
// they take flags before and after names, the environment twins of flags, and
// which error ends the process with which code.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Codes that the process ends with.
const (
	OK        = 0
	Failed    = 1 // something went wrong
	Usage     = 2 // the command line is wrong
	Missed    = 3 // the verdict is fail
	Undecided = 4 // the verdict is inconclusive or invalid
)

// Env is the world of a command.
type Env struct {
	Args   []string // after the names of the command
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Lookup func(string) (string, bool) // environment variables
	Now    func() time.Time
	Colour bool // Stdout is a terminal that takes colours

	Version, Commit, Date string // of the build
}

// UsageError says that the command line is wrong.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Exit ends the process with a code and no message: what there is to say has
// been printed.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Code returns the code for an error.
func Code(err error) int {
	if e, ok := errors.AsType[Exit](err); ok {
		return int(e)
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return Usage
	}
	if err != nil {
		return Failed
	}
	return OK
}

// Command describes a subcommand for its help and its errors.
type Command struct {
	Name     string // as typed, such as "run declare"
	Synopsis string // arguments, such as "RUN"
	Help     string // what it does; whole sentences
	Least    int    // names that it needs
	Most     int    // names that it takes
}

// NewFlags makes a flag set for Parse.
func (c Command) NewFlags() *flag.FlagSet {
	fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// Parse reads flags and names in any order and returns the names. Flags that
// are not given take their value from PLIMSOLL_<FLAG>, unless it is empty. When help
// is asked for it is printed, and the error is Exit(OK).
func (c Command) Parse(env *Env, fs *flag.FlagSet) ([]string, error) {
	names, err := interspersed(fs, env.Args)
	if errors.Is(err, flag.ErrHelp) {
		c.WriteHelp(env.Stdout, fs)
		return nil, Exit(OK)
	}
	if err != nil {
		return nil, c.usage(err)
	}
	if err := FromEnv(env, fs); err != nil {
		return nil, c.usage(err)
	}
	switch {
	case len(names) < c.Least:
		return nil, c.usage(fmt.Errorf("%s is missing", c.Synopsis))
	case len(names) > c.Most:
		return nil, c.usage(fmt.Errorf("unexpected argument %q", names[c.Most]))
	}
	return names, nil
}

func (c Command) usage(err error) error {
	return Usagef("%s: %w (run 'plimsoll help %s')", c.Name, err, c.Name)
}

// interspersed parses flags that stand before, between and after names. What
// follows "--" is names.
func interspersed(fs *flag.FlagSet, args []string) ([]string, error) {
	var after []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, after = args[:i], args[i+1:]
	}
	var names []string
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return append(names, after...), nil
		}
		names = append(names, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// Twin returns the environment variable of a flag.
func Twin(name string) string {
	return "PLIMSOLL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// FromEnv sets the flags that were not given from their variables, and reports
// every value that is not understood.
func FromEnv(env *Env, fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var errs []error
	fs.VisitAll(func(f *flag.Flag) {
		if v, ok := env.Lookup(Twin(f.Name)); ok && v != "" && !given[f.Name] {
			if err := fs.Set(f.Name, v); err != nil {
				errs = append(errs, fmt.Errorf("invalid value %q in %s: %w", v, Twin(f.Name), err))
			}
		}
	})
	return errors.Join(errs...)
}

// WriteHelp writes the help of a command.
func (c Command) WriteHelp(w io.Writer, fs *flag.FlagSet) {
	usage := strings.TrimRight("plimsoll "+c.Name+" [flags] "+c.Synopsis, " ")
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", usage, c.Help)
	n := 0
	fs.VisitAll(func(*flag.Flag) { n++ })
	if n == 0 {
		return
	}
	fmt.Fprintln(w, "\nFlags (each may also be set as PLIMSOLL_FLAG_NAME):")
	fs.VisitAll(func(f *flag.Flag) {
		kind, text := flag.UnquoteUsage(f)
		line := "  --" + f.Name
		if kind != "" {
			line += " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "%s\n        %s\n", line, text)
	})
}

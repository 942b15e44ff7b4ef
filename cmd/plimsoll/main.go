// Command plimsoll watches load tests and says, with evidence, how much load a
// service carries, what its users would have felt, and whether it recovers.
//
// Each subcommand has a file: flags and wiring, nothing else. The process ends
// with 0 for success or a verdict of pass, 1 for an error, 2 for a wrong
// command line, 3 for a verdict of fail, and 4 for one of inconclusive or
// invalid.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
)

// Set by the linker; see the Makefile.
var version, commit string //nolint:gochecknoglobals // the linker needs variables

func main() { os.Exit(process()) }

// process runs the command that the operating system asks for.
func process() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	env := &cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv, Now: time.Now,
	}
	_, noColour := os.LookupEnv("NO_COLOR")
	env.Colour = !noColour && os.Getenv("TERM") != "dumb" && terminal(os.Stdout)
	env.Version, env.Commit, env.Date = build(version, commit)
	return run(ctx, env)
}

// run runs a command and returns the code to end with.
func run(ctx context.Context, env *cli.Env) int {
	err := dispatch(ctx, env)
	if _, quiet := errors.AsType[cli.Exit](err); err != nil && !quiet {
		fmt.Fprintln(env.Stderr, "plimsoll:", err)
	}
	return cli.Code(err)
}

// command is a subcommand. Those with parts have no run of their own.
type command struct {
	name  string
	about string
	run   func(context.Context, *cli.Env) error
	parts []command
}

func commands() []command {
	return []command{
		{name: "serve", about: "receive telemetry of load tests and answer questions about them", run: serve},
		{name: "check", about: "judge a run; the exit code is for CI", run: check},
		{name: "doctor", about: "say what to set so that the next run proves more", run: doctor},
		{name: "import", about: "read the result files of load generators", run: importFiles},
		{name: "compare", about: "set two runs side by side", run: compare},
		{name: "demo", about: "watch a service being pushed past its limit, in a minute", run: runDemo},
		{name: "runs", about: "list runs", run: listRuns},
		{name: "run", about: "declare, finish or delete a run", parts: []command{
			{name: "declare", about: "say what a run is meant to be", run: declare},
			{name: "finish", about: "say that no more data will come", run: finish},
			{name: "delete", about: "remove a run and all that is kept of it", run: remove},
		}},
		{name: "version", about: "print the version", run: printVersion},
	}
}

// dispatch finds the command and runs it.
func dispatch(ctx context.Context, env *cli.Env) error {
	list, path := commands(), ""
	for {
		if len(env.Args) == 0 {
			writeUsage(env.Stderr, path, list)
			return cli.Exit(cli.Usage)
		}
		name := env.Args[0]
		switch name {
		case "-h", "-help", "--help":
			writeUsage(env.Stdout, path, list)
			return nil
		case "-version", "--version":
			env.Args = nil
			return printVersion(ctx, env)
		case "help":
			env.Args = append(env.Args[1:len(env.Args):len(env.Args)], "--help")
			continue
		}
		c, ok := find(list, name)
		if !ok {
			return cli.Usagef("unknown command %q (run 'plimsoll help')", strings.TrimSpace(path+" "+name))
		}
		env.Args = env.Args[1:]
		if c.parts == nil {
			return c.run(ctx, env)
		}
		list, path = c.parts, c.name
	}
}

func find(list []command, name string) (command, bool) {
	for _, c := range list {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func writeUsage(w io.Writer, path string, list []command) {
	name := "plimsoll"
	if path == "" {
		fmt.Fprint(w, "Plimsoll says how much load a service carries, what its users feel, and whether it recovers.\n\n")
	} else {
		name += " " + path
	}
	fmt.Fprintf(w, "Usage: %s COMMAND [flags]\n\n", name)
	for _, c := range list {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.about)
	}
	fmt.Fprintf(w, "\nRun '%s COMMAND --help' for the flags of a command.\n", name)
}

// terminal reports whether a file is a terminal.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

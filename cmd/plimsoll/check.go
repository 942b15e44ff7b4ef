package main

import (
	"context"
	"io"
	"net/url"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/grammar"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

func check(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "check", Synopsis: "RUN", Least: 1, Most: 1,
		Help: "Judges a run, finished or not, and prints what it proves. " + runArgument + `
Ends with 0 if the verdict is pass, 3 if it is fail, 4 if it is inconclusive or invalid.

Objectives: 'p99<300ms', 'error<1%', 'goodput>=99%', 'carry>=450/s', each after an optional
'scenario:NAME' and 'step:NAME'. Given here, they replace those that were declared.`,
	}
	var at remote
	var deadline cli.Deadline
	var objectives cli.List
	var output, scenario string
	fs := cmd.NewFlags()
	at.flags(fs)
	fs.Var(&deadline, "deadline", "count as goodput what is answered within `DURATION`, whatever was declared; or in parts, as ttft:500ms,e2e:5s")
	fs.Var(&objectives, "objective", "judge the run by this `EXPR`; may be repeated")
	fs.StringVar(&output, "output", "table", "`FORMAT` table, json, junit or github")
	fs.StringVar(&scenario, "scenario", "", "judge only the scenario `NAME`")
	names, err := cmd.Parse(env, fs)
	if err != nil {
		return err
	}
	if err := outputAs(output, "table", "json", "junit", "github"); err != nil {
		return err
	}
	q := url.Values{}
	for _, text := range objectives {
		if _, err := grammar.ParseObjective(text); err != nil {
			return &cli.UsageError{Err: err}
		}
		q.Add("objective", text)
	}
	deadline.Ask(q)
	if scenario != "" {
		q.Set("scenario", scenario)
	}
	c, err := at.dial(env)
	if err != nil {
		return err
	}
	var v *wire.Verdict
	var body []byte
	err = patiently(ctx, env.Stderr, c, names[0], func() (err error) {
		v, body, err = c.Verdict(ctx, names[0], q)
		return err
	})
	if err != nil {
		return err
	}
	if err := write(env.Stdout, output, v, body, env.Colour, at.server); err != nil {
		return err
	}
	return outcome(v.Outcome)
}

// write prints a verdict in a format; a table says, too, what to set for a better one.
func write(w io.Writer, format string, v *wire.Verdict, body []byte, colour bool, server string) error {
	switch format {
	case "json":
		return show.JSON(w, body)
	case "junit":
		return show.JUnit(w, v)
	case "github":
		return show.GitHub(w, v)
	default:
		return show.Table(w, v, colour, show.Hint(v, server))
	}
}

// outcome ends the process with the code of a verdict.
func outcome(o string) error {
	switch o {
	case wire.OutcomePass:
		return nil
	case wire.OutcomeFail:
		return cli.Exit(cli.Missed)
	default:
		return cli.Exit(cli.Undecided)
	}
}

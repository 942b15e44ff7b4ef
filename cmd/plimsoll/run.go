package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/grammar"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/client"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/declaration"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

// declared has the flags that describe a run; they weigh more than the file.
type declared struct {
	id, name, schedule, start, population, model string
	deadline                                     cli.Deadline
	timeout, think                               cli.Duration
	users                                        float64
	objectives, targets                          cli.List
}

func (d *declared) flags(fs *flag.FlagSet) {
	fs.StringVar(&d.id, "id", "", "`ID` of the run: the loadtest.run.id that its telemetry carries")
	fs.StringVar(&d.name, "name", "", "`NAME` that the run shares with others of its kind")
	fs.StringVar(&d.schedule, "schedule", "", "`SCHEDULE` of the arrivals, such as 'constant:100/s x 60s, pause x 10s, poisson:200/s x 60s, ramp:50/s..150/s x 60s'")
	fs.StringVar(&d.start, "start", "", "`TIME` of the first arrival (RFC 3339); without it the schedule begins at the first row")
	fs.StringVar(&d.model, "model", "", "arrival `MODEL` open or closed")
	fs.StringVar(&d.population, "population", "", "'fixed' if users really are a fixed `NUMBER` that wait for answers")
	fs.Var(&d.deadline, "deadline", "patience of the client, a `DURATION`; or in parts, as ttft:500ms,e2e:5s")
	fs.Var(&d.timeout, "timeout", "`DURATION` after which the client gives up")
	fs.Float64Var(&d.users, "users", 0, "`NUMBER` of users of a closed loop, for the law N = X(R + Z)")
	fs.Var(&d.think, "think", "mean pause of such a user between an answer and the next request, a `DURATION`")
	fs.Var(&d.objectives, "objective", "promise such as 'p99<300ms', 'error<1%', 'goodput>=99%', 'carry>=450/s', an `EXPR`; may be repeated")
	fs.Var(&d.targets, "target", "`SERVICE` under test, whose telemetry belongs to the run; may be repeated")
}

// apply sets what flags say.
func (d *declared) apply(to *wire.Declaration) error {
	set := func(field *string, v string) {
		if v != "" {
			*field = v
		}
	}
	set(&to.ID, d.id)
	set(&to.Name, d.name)
	set(&to.Population, d.population)
	if d.deadline.EndS != nil {
		to.DeadlineS = d.deadline.EndS
	}
	if d.deadline.FirstByteS != nil {
		to.FirstByteDeadlineS = d.deadline.FirstByteS
	}
	if d.users != 0 {
		to.Users = &d.users
	}
	if d.think > 0 {
		s := time.Duration(d.think).Seconds()
		to.ThinkS = &s
	}
	if d.timeout > 0 {
		s := time.Duration(d.timeout).Seconds()
		to.TimeoutS = &s
	}
	if d.start != "" {
		t, err := time.Parse(time.RFC3339Nano, d.start)
		if err != nil {
			return cli.Usagef("--start: %q is not a time like 2026-11-30T10:00:00Z", d.start)
		}
		to.Start = &t
	}
	if len(d.targets) > 0 {
		to.Targets = d.targets
	}
	return d.applyArrivals(to)
}

func (d *declared) applyArrivals(to *wire.Declaration) error {
	if d.schedule != "" {
		s, err := grammar.ParseSchedule(d.schedule)
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		to.Steps = s.Steps
		to.Arrival = &wire.Arrival{Model: "open", Process: s.Process}
	}
	if d.model != "" {
		if to.Arrival == nil {
			to.Arrival = &wire.Arrival{}
		}
		to.Arrival.Model = d.model
	}
	if len(d.objectives) > 0 {
		to.Objectives = nil
	}
	for _, text := range d.objectives {
		o, err := grammar.ParseObjective(text)
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		to.Objectives = append(to.Objectives, o)
	}
	return nil
}

func declare(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "run declare", Synopsis: "[FILE]", Most: 1,
		Help: `Says what a run is meant to be: its schedule, deadline and objectives. It may come before,
during or after the data. FILE is YAML or JSON with the fields of the API ("-" reads standard
input); flags weigh more than the file. Without an id the server makes one, which is printed.`,
	}
	var at remote
	var d declared
	fs := cmd.NewFlags()
	at.flags(fs)
	d.flags(fs)
	names, err := cmd.Parse(env, fs)
	if err != nil {
		return err
	}
	var decl wire.Declaration
	if len(names) > 0 {
		if decl, err = readDeclaration(env, names[0]); err != nil {
			return err
		}
	}
	if err := d.apply(&decl); err != nil {
		return err
	}
	if decl.ID == "" && decl.Name == "" {
		return cli.Usagef("run declare: --id or --name is needed")
	}
	c, err := at.dial(env)
	if err != nil {
		return err
	}
	created, item, err := c.Declare(ctx, &decl)
	if err != nil {
		return err
	}
	text := "declared"
	if !created {
		text = "was declared the same before"
	}
	_, err = fmt.Fprintln(env.Stdout, show.Text(item.ID), text)
	return err
}

func readDeclaration(env *cli.Env, file string) (wire.Declaration, error) {
	var data []byte
	var err error
	if file == "-" {
		if data, err = io.ReadAll(io.LimitReader(env.Stdin, declaration.MaxBytes+1)); err == nil && len(data) > declaration.MaxBytes {
			err = errors.New("standard input is too large")
		}
	} else {
		data, err = settings.ReadFile(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return wire.Declaration{}, fmt.Errorf("read declaration: %w (the id of a run is given with --id)", err)
	}
	if err != nil {
		return wire.Declaration{}, fmt.Errorf("read declaration: %w", err)
	}
	d, err := declaration.Parse(data)
	if err != nil {
		return d, fmt.Errorf("read declaration %s: %w", file, err)
	}
	return d, nil
}

func finish(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "run finish", Synopsis: "RUN", Least: 1, Most: 1,
		Help: "Says that no more data of a run will come, and returns when its verdict stands. " + runArgument,
	}
	c, run, err := oneRun(env, &cmd)
	if err != nil {
		return err
	}
	item, err := c.Finish(ctx, run)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s finished: %s\n%s\n", show.Text(item.ID), show.Text(item.Outcome), show.Text(item.Headline))
	return err
}

func remove(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "run delete", Synopsis: "RUN", Least: 1, Most: 1,
		Help: "Removes a run: rows, declaration, marks and verdict. It cannot be undone. " + runArgument,
	}
	c, run, err := oneRun(env, &cmd)
	if err != nil {
		return err
	}
	id, err := c.Delete(ctx, run)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, show.Text(id), "deleted")
	return err
}

// oneRun reads a command line that names one run, and dials the server.
func oneRun(env *cli.Env, cmd *cli.Command) (c *client.Client, run string, err error) {
	var at remote
	fs := cmd.NewFlags()
	at.flags(fs)
	names, err := cmd.Parse(env, fs)
	if err != nil {
		return nil, "", err
	}
	if c, err = at.dial(env); err != nil {
		return nil, "", err
	}
	return c, names[0], nil
}

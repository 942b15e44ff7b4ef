package main

import (
	"context"
	"net/url"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

func compare(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "compare", Synopsis: "BEFORE AFTER", Least: 2, Most: 2,
		Help: `Sets two runs side by side, step by step, with the interval of each difference.
BEFORE and AFTER are each an id, 'latest', or 'latest:NAME'. Response times of steps that are not
steady are not compared: they depend on how long was measured.`,
	}
	var at remote
	var deadline cli.Deadline
	var output, scenario string
	fs := cmd.NewFlags()
	at.flags(fs)
	fs.Var(&deadline, "deadline", "count as goodput what is answered within `DURATION`, whatever was declared; or in parts, as ttft:500ms,e2e:5s")
	fs.StringVar(&output, "output", "table", "`FORMAT` table or json")
	fs.StringVar(&scenario, "scenario", "", "compare only the scenario `NAME`")
	names, err := cmd.Parse(env, fs)
	if err != nil {
		return err
	}
	if err := outputAs(output, "table", "json"); err != nil {
		return err
	}
	q := url.Values{}
	deadline.Ask(q)
	if scenario != "" {
		q.Set("scenario", scenario)
	}
	c, err := at.dial(env)
	if err != nil {
		return err
	}
	found, body, err := c.Compare(ctx, names[0], names[1], q)
	if err != nil {
		return err
	}
	if output == "json" {
		return show.JSON(env.Stdout, body)
	}
	return show.Comparison(env.Stdout, found, env.Colour)
}

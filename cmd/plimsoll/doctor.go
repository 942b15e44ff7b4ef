package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/advice"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

func doctor(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "doctor", Synopsis: "RUN", Least: 1, Most: 1,
		Help: "Says what to set so that the next run of a test proves more: the one variable, flag or line that\n" +
			"gains most, then the others. " + runArgument,
	}
	var at remote
	var output string
	fs := cmd.NewFlags()
	at.flags(fs)
	fs.StringVar(&output, "output", "table", "`FORMAT` table or json")
	names, err := cmd.Parse(env, fs)
	if err != nil {
		return err
	}
	if err := outputAs(output, "table", "json"); err != nil {
		return err
	}
	c, err := at.dial(env)
	if err != nil {
		return err
	}
	v, _, err := c.Verdict(ctx, names[0], nil)
	if err != nil {
		return err
	}
	list := advice.Of(v, at.server)
	if output == "table" {
		return show.Advice(env.Stdout, v, list)
	}
	e := json.NewEncoder(env.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if list == nil {
		list = []advice.Advice{}
	}
	if err := e.Encode(list); err != nil {
		return fmt.Errorf("write advice: %w", err)
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

func listRuns(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{Name: "runs", Help: "Lists the runs that a server keeps, newest first."}
	var at remote
	var output, text, cursor string
	var limit int
	fs := cmd.NewFlags()
	at.flags(fs)
	fs.StringVar(&output, "output", "table", "`FORMAT` table or json")
	fs.IntVar(&limit, "limit", 20, "list at most `N` runs")
	fs.StringVar(&text, "q", "", "only runs with `TEXT` in their id or name")
	fs.StringVar(&cursor, "cursor", "", "go on from `CURSOR`, which the page before names")
	if _, err := cmd.Parse(env, fs); err != nil {
		return err
	}
	if err := outputAs(output, "table", "json"); err != nil {
		return err
	}
	if limit < 1 || limit > 500 {
		return cli.Usagef("--limit: %d is not within 1 and 500", limit)
	}
	c, err := at.dial(env)
	if err != nil {
		return err
	}
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if text != "" {
		q.Set("q", text)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	list, err := c.Runs(ctx, q)
	if err != nil {
		return err
	}
	if output == "json" {
		body, err := json.Marshal(list)
		if err != nil {
			return err
		}
		return show.JSON(env.Stdout, body)
	}
	return show.Runs(env.Stdout, &list, env.Colour)
}

package main

import (
	"flag"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/client"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
)

const runArgument = "RUN is an id, 'latest', or 'latest:NAME'."

// remote has the flags of commands that talk to a server.
type remote struct{ server, tokenFile string }

func (r *remote) flags(fs *flag.FlagSet) {
	fs.StringVar(&r.server, "server", "http://127.0.0.1:4319", "`URL` of the server")
	fs.StringVar(&r.tokenFile, "token-file", "", "`FILE` with the bearer token of the server (PLIMSOLL_TOKEN holds the token itself)")
}

func (r *remote) dial(env *cli.Env) (*client.Client, error) {
	token, err := settings.Token(r.tokenFile, env.Lookup)
	if err != nil {
		return nil, err
	}
	c, err := client.New(r.server, token)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return c, nil
}

// outputAs refuses a value of --output that is not one of those allowed.
func outputAs(value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return cli.Usagef("--output: %q is not one of: %s", value, strings.Join(allowed, " "))
}

package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
)

func printVersion(_ context.Context, env *cli.Env) error {
	cmd := cli.Command{Name: "version", Help: "Prints the version, the commit, its date and the Go version."}
	if _, err := cmd.Parse(env, cmd.NewFlags()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "plimsoll %s\ncommit %s\ndate %s\n%s %s/%s\n",
		env.Version, env.Commit, env.Date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// build completes what the linker was told by what the Go tool recorded.
func build(version, commit string) (string, string, string) {
	date := "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	recorded, dirty := "unknown", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			recorded = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty {
		recorded += "-dirty"
	}
	if commit == "" {
		commit = recorded
	}
	if version == "" {
		if version = info.Main.Version; version == "" || version == "(devel)" {
			version = "devel"
		}
	}
	return version, commit, date
}

// Command simrun drives simulated load tests through the real pipeline: it
// starts the built program, declares a run or not, sends its spans and counters
// to the real port at full speed, finishes it, reads the verdict and compares
// that with what is known of the run by construction.
//
//	simrun -seed 7                       a random scenario
//	simrun -scenario sweep -seed 7       a named one
//	simrun -seeds 200                    seeds 0 to 199, one after another
//	simrun -list                         the names
//
// It prints a table of truth and verdict, and exits 1 when a verdict is wrong.
// "Inconclusive" is not wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/internal/program"
	"github.com/plimsoll/plimsoll/internal/simrun/truth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simrun:", err)
	}
	os.Exit(code)
}

// options of the command line.
type options struct {
	program, scenario string
	seed, seeds       uint64
	all, list         bool
}

func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	var opt options
	flags := flag.NewFlagSet("simrun", flag.ContinueOnError)
	flags.StringVar(&opt.program, "program", "bin/plimsoll", "the built program")
	flags.StringVar(&opt.scenario, "scenario", "", "a named scenario; empty: a random one")
	flags.Uint64Var(&opt.seed, "seed", 0, "first seed")
	flags.Uint64Var(&opt.seeds, "seeds", 1, "number of seeds")
	flags.BoolVar(&opt.all, "all", false, "print what is right, too")
	flags.BoolVar(&opt.list, "list", false, "list the scenarios")
	if err := flags.Parse(args); err != nil {
		return 2, nil // the flag package has said why
	}
	if opt.list {
		return 0, list(out)
	}
	spec, ok := truth.Scenario(opt.scenario)
	if !ok && opt.scenario != "" {
		return 2, fmt.Errorf("no scenario %q: see -list", opt.scenario)
	}
	dir, err := os.MkdirTemp("", "simrun")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	started, err := program.Serve(ctx, opt.program, dir, io.Discard)
	if err != nil {
		return 1, err
	}
	wrong, err := opt.each(ctx, &server{started}, spec, out)
	if stopped := started.Stop(); err == nil {
		err = stopped
	}
	if err != nil || wrong > 0 {
		return 1, err
	}
	return 0, nil
}

// each runs one seed after another and returns how many verdicts were wrong.
func (opt *options) each(ctx context.Context, s *server, spec truth.Spec, out io.Writer) (wrong int, err error) {
	var marks [4]int
	for seed := opt.seed; seed < opt.seed+opt.seeds; seed++ {
		c := truth.Make(spec, seed)
		v, err := s.judge(ctx, c)
		if err != nil {
			return wrong, fmt.Errorf("%s: %w", c.ID(), err)
		}
		lines := truth.Check(c, v)
		worst := truth.Worst(lines)
		marks[worst]++
		if worst == truth.Wrong {
			wrong++
		}
		if err := opt.print(out, c, v, lines); err != nil {
			return wrong, err
		}
	}
	if opt.seeds > 1 {
		fmt.Fprintf(out, "\n%d runs: %d right, %d with something open, %d odd, %d wrong\n", opt.seeds,
			marks[truth.Right], marks[truth.Open], marks[truth.Odd], marks[truth.Wrong])
	}
	return wrong, nil
}

// print shows the table of one run: of a single one all of it, of many what is
// odd or wrong.
func (opt *options) print(out io.Writer, c *truth.Case, v *wire.Verdict, lines []truth.Line) error {
	worst := truth.Worst(lines)
	all := opt.all || opt.seeds == 1
	if !all && worst < truth.Odd {
		return nil
	}
	fmt.Fprintf(out, "\n%s: seed %d, %s\n%s: %s\n", c.Name(), c.Seed, c.Describe(), v.Outcome, v.Headline)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		if all || l.Mark >= truth.Odd {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Mark, l.What, l.Truth, l.Verdict)
		}
	}
	return w.Flush()
}

func list(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range truth.Scenarios() {
		fields := []string{s.Label}
		for _, f := range []string{s.Plan, s.Server, s.Client, s.Arrivals, s.Knowing} {
			if f == "" {
				f = "any"
			}
			fields = append(fields, f)
		}
		fmt.Fprintln(w, strings.Join(fields, "\t"))
	}
	return w.Flush()
}

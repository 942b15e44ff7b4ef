package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Events that a command is run for.
const (
	EventAlert   = "alert"   // an alert of a run that goes on began to fire
	EventVerdict = "verdict" // a run has ended and was judged
)

// Bounds of a command.
const (
	commandPatience = 5 * time.Minute
	mostCommands    = 64 // that wait for the one at work
	longestOutput   = 4 << 10
)

// Command runs a command line of the shell with a verdict on its standard input:
// when an alert of a run that goes on begins to fire, to stop the generator, say,
// and when a run has ended. One at a time, in order. The environment says what it
// is about: PLIMSOLL_EVENT (alert or verdict), PLIMSOLL_RUN_ID, PLIMSOLL_RUN_NAME,
// PLIMSOLL_OUTCOME, and of an alert PLIMSOLL_ALERT and PLIMSOLL_MESSAGE.
type Command struct {
	Line  string
	Judge func(ctx context.Context, id string) (*wire.Verdict, error)
	Env   []string // of the process
	Log   *slog.Logger

	queue chan call
}

// call is one run of the command.
type call struct {
	event, run, name string
	alert            *Alert
	verdict          *wire.Verdict // nil: to be judged
}

// NewCommand returns a command that runs once Run is called.
func NewCommand(line string, judge func(ctx context.Context, id string) (*wire.Verdict, error), env []string, log *slog.Logger) *Command {
	return &Command{Line: line, Judge: judge, Env: env, Log: log, queue: make(chan call, mostCommands)}
}

// Raised asks for a run of the command because of an alert. It never blocks.
func (c *Command) Raised(a Alert) {
	c.ask(call{event: EventAlert, run: a.RunID, name: a.Labels.RunName, alert: &a})
}

// Judged asks for a run of the command because of a verdict. It never blocks.
func (c *Command) Judged(v *wire.Verdict) {
	c.ask(call{event: EventVerdict, run: v.Run.ID, name: v.Run.Name, verdict: v})
}

func (c *Command) ask(q call) {
	select {
	case c.queue <- q:
	default:
		c.Log.Error("command was not run: too many wait", "run", q.run, "event", q.event)
	}
}

// Run runs what is asked for until ctx ends.
func (c *Command) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case q := <-c.queue:
			if err := c.run(ctx, &q); err != nil {
				c.Log.Error("command failed", "run", q.run, "event", q.event, "error", err)
			}
		}
	}
}

func (c *Command) run(ctx context.Context, q *call) error {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	v := q.verdict
	if v == nil {
		var err error
		if v, err = c.Judge(ctx, q.run); err != nil {
			return fmt.Errorf("judge run: %w", err)
		}
	}
	input, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Line) //nolint:gosec // the operator's own command line
	cmd.Env = append(c.Env[:len(c.Env):len(c.Env)],
		"PLIMSOLL_EVENT="+q.event, "PLIMSOLL_RUN_ID="+q.run, "PLIMSOLL_RUN_NAME="+q.name, "PLIMSOLL_OUTCOME="+v.Outcome)
	if q.alert != nil {
		cmd.Env = append(cmd.Env, "PLIMSOLL_ALERT="+q.alert.Labels.Name, "PLIMSOLL_MESSAGE="+q.alert.Description)
	}
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = time.Second
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	c.Log.Info("command ran", "run", q.run, "event", q.event, "output", out.String())
	if err != nil {
		return fmt.Errorf("%w: %q", err, out.String())
	}
	return nil
}

// tail keeps the end of what is written.
type tail struct{ data []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - longestOutput; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.data)) }

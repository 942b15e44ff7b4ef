package fold

import (
	"errors"

	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// MostScenarios is the most scenarios that a run may name. Beyond it the names are
// something else, such as an id of each user, and the run has no scenarios.
const MostScenarios = 1000

// errBlank ends a scan that found too many names: it begins again without them.
var errBlank = errors.New("too many names")

// blank says which names of groups are no names of streams, and are passed over.
// Whether they are depends on the set of rows alone.
type blank struct {
	scenarios, steps         bool
	seenScenarios, seenSteps map[string]struct{}
}

// of returns a group without the names that are passed over.
func (n *blank) of(g sample.Group) sample.Group {
	if n.scenarios {
		g.Scenario = ""
	}
	if n.steps {
		g.Step = ""
	}
	return g
}

// see counts the names of a new group, and reports whether there are too many.
func (n *blank) see(g *sample.Group) bool {
	if n.seenScenarios == nil {
		n.seenScenarios, n.seenSteps = map[string]struct{}{}, map[string]struct{}{}
	}
	if g.Scenario != "" {
		n.seenScenarios[g.Scenario] = struct{}{}
	}
	if g.Step != "" {
		n.seenSteps[g.Step] = struct{}{}
	}
	many, more := len(n.seenScenarios) > MostScenarios, len(n.seenSteps) > mostNames
	n.scenarios, n.steps = n.scenarios || many, n.steps || more
	return many || more
}

// again returns a folder that has yet to read anything, and passes over the names
// of which there were too many.
func (f *folder) again() *folder {
	n := newFolder(f.ev, f.opt)
	n.series = f.series
	n.blank.scenarios, n.blank.steps = f.blank.scenarios, f.blank.steps
	return n
}

// refuse answers a question about one of too many scenarios.
func (f *folder) refuse() error {
	if f.blank.scenarios && f.opt.Scenario != "" {
		return &query.UnknownError{What: "scenario", Name: f.opt.Scenario, TooMany: MostScenarios}
	}
	return nil
}

package query

import (
	"fmt"
	"strconv"
	"strings"
)

// UnknownError says that a question is about a part of a run that it does not
// have.
type UnknownError struct {
	What  string   // scenario or source
	Name  string   // what was asked for
	Known []string // what there is, ascending
	// TooMany, when set, is the number beyond which names are taken for something
	// else, such as ids: the run names more.
	TooMany int
}

// Error names the part.
func (e *UnknownError) Error() string { return fmt.Sprintf("the run has no %s %q", e.What, e.Name) }

// mostKnown is how many parts a hint lists.
const mostKnown = 20

// Hint lists the parts that there are.
func (e *UnknownError) Hint() string {
	if e.TooMany > 0 {
		return fmt.Sprintf("it names more than %d, which are taken for something else, such as ids, and passed over", e.TooMany)
	}
	if len(e.Known) == 0 {
		return "its requests name no " + e.What
	}
	var quoted []string
	for _, k := range e.Known[:min(len(e.Known), mostKnown)] {
		quoted = append(quoted, strconv.Quote(k))
	}
	if more := len(e.Known) - mostKnown; more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	return "it has " + strings.Join(quoted, ", ")
}

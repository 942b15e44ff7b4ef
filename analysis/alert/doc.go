// Package alert watches the runs that go on and says when somebody should look:
// a backlog that grows without end, a generator that cannot be trusted, goodput
// below its objective, a service that does not recover.
//
// The data's way through it: a Watcher follows every run that goes on with a
// fold.Look, once a tick, and has it judged now and then; rules (Judge, Seen)
// turn both into alerts; a Book compares them with those that fire already and
// keeps what changed until a Sender has delivered it. The book is a file, so a
// restart neither repeats an alert nor loses one.
//
// An alert has the labels alertname, run_name, scenario and severity, the same
// from run to run; ids and numbers stand in its annotations. One that was firing
// when its run ended goes on for Hold, so that a failed run does not resolve by
// ending.
package alert

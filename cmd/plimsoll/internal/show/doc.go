// Package show writes verdicts and runs for people and for other tools: a table
// for a terminal of 100 columns, JSON, JUnit and GitHub annotations.
//
// Numbers have three significant digits, and a number that the data cannot give
// is not written as one. Text that came from outside is made harmless for the
// place where it is shown: escape sequences for a terminal, commands for a CI log.
package show

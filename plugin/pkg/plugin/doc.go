// Package plugin answers the queries of Grafana with the verdicts of a Plimsoll
// server. It computes nothing that the server has not judged: it turns documents
// into frames with types, units, thresholds and links, and doubts into notices.
//
// A number that the data do not support is never a gap: the reason stands in its
// place, or in a notice on the panel. Every error says whose fault it is
// (downstream: the server, the network or the question; plugin: this program).
// Answers are bounded, and say so when they were cut.
package plugin

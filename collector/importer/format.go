package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Format is a kind of result file.
type Format struct {
	Name      string // for --format and in answers, such as "k6-json"
	Title     string // for people, such as "k6 JSON output"
	Generator string // put into groups that name none
	// Document says that files of this format are written at once, not line by
	// line: they do not grow, and may begin like others of their kind.
	Document bool
	// Sniff reports whether a file that begins with head has this format. Head
	// is what could be had without waiting, at least minHead bytes if the file
	// is as long, and may end anywhere.
	Sniff func(head []byte) bool
	// Read reads the whole source into the sink. An error fails the import;
	// what cannot be read line by line goes to Sink.Bad.
	Read func(ctx context.Context, src *Source, sink *Sink) error
}

// formats lists all formats in the order in which they are tried: those that
// are sure of themselves first.
func formats() []Format { return slices.Concat(leading(), further()) }

// leading are the formats of k6, JMeter, Vegeta, Gatling and OpenTelemetry.
func leading() []Format {
	return []Format{k6JSON(), k6CSV(), vegetaJSON(), vegetaCSV(), vegetaGob(), jtlCSV(), jtlXML(), gatlingText(), gatlingBinary(), otlpJSON(), otlpProto()}
}

// Names lists the names of all formats, in alphabetical order.
func Names() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// find returns the format with the name or, without a name, the first that
// recognises the head.
func find(name string, head []byte) (Format, error) {
	for _, f := range formats() {
		if name == f.Name || name == "" && f.Sniff(head) {
			return f, nil
		}
	}
	if name != "" {
		return Format{}, fmt.Errorf("format %q is not known; it may be one of %s", name, strings.Join(Names(), ", "))
	}
	return Format{}, fmt.Errorf("format is not recognised; --format may be one of %s", strings.Join(Names(), ", "))
}

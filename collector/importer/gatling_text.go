package importer

import (
	"context"
	"errors"
	"fmt"
)

// gatlingText reads simulation.log of Gatling up to 3.12: a record a line,
// fields between tabs.
func gatlingText() Format {
	return Format{
		Name: "gatling-text", Title: "Gatling simulation.log (text)", Generator: "gatling",
		Sniff: tabbed,
		Read:  readGatlingText,
	}
}

func readGatlingText(_ context.Context, src *Source, sink *Sink) error {
	g := newGatling(sink)
	var fields [][]byte
	names := map[string]string{}
	err := lines(src, sink, func(line []byte) error {
		fields = cut(fields[:0], line, '\t')
		if src.Torn() {
			return errTornLine
		}
		var e gatlingEvent
		var err error
		switch string(fields[0]) {
		case "REQUEST":
			e, err = gatlingTextRequest(fields)
		case "USER":
			e, err = gatlingTextUser(fields, names)
		case "ERROR":
			g.errors++
			return nil
		case "RUN", "GROUP", "ASSERTION":
			return nil
		default:
			return fmt.Errorf("record %q is not known", trimmed(fields[0]))
		}
		if err != nil {
			return err
		}
		return stop(g.add(&e))
	})
	if err != nil {
		return err
	}
	return g.close()
}

// gatlingTextRequest reads a request of any version: what stands before the name
// has changed, and the status is the first OK or KO after two times.
func gatlingTextRequest(f [][]byte) (e gatlingEvent, err error) {
	for i := 4; i < len(f); i++ {
		if s := string(f[i]); s != "OK" && s != "KO" {
			continue
		}
		from, errFrom := integer(f[i-2])
		to, errTo := integer(f[i-1])
		if errFrom != nil || errTo != nil || from > 1e13 || to > 1e13 {
			continue
		}
		e.from, e.to, e.ok = from*1e6, to*1e6, string(f[i]) == "OK"
		if !e.ok && i+1 < len(f) {
			e.message = string(f[i+1])
		}
		return e, nil
	}
	return e, errors.New("request without times and status")
}

// gatlingTextUser reads a user: scenario, in older versions its number, START or
// END, and a time, in older versions two.
func gatlingTextUser(f [][]byte, names map[string]string) (e gatlingEvent, err error) {
	for i := 2; i+1 < len(f); i++ {
		event := string(f[i])
		if event != "START" && event != "END" {
			continue
		}
		ms, err := integer(f[len(f)-1])
		if err != nil || ms > 1e13 {
			return e, fmt.Errorf("%w %q", errTime, trimmed(f[len(f)-1]))
		}
		e.kind, e.from = gatlingStart, ms*1e6
		if event == "END" {
			e.kind = gatlingEnd
		}
		name, ok := names[string(f[1])]
		if !ok && len(names) < 1000 {
			name = string(f[1])
			names[name] = name
		}
		e.scenario = name
		return e, nil
	}
	return e, errors.New("user without START or END")
}

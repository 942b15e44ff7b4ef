package importer

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// simulation is a run of Gatling as its log records it.
type simulation struct {
	scenarios []string
	events    []gatlingEvent
}

const gatlingBegin = int64(1796046000000) // ms

// openSimulation has users at 40/s, each with one request of 30 ms or two.
func openSimulation(users, each int) simulation {
	s := simulation{scenarios: []string{"orders"}}
	for i := range users {
		start := gatlingBegin + int64(i)*25 + int64(i%2)
		s.events = append(s.events, gatlingEvent{kind: gatlingStart, from: start, scenario: "orders"})
		for k := range each {
			from := start + 1 + int64(k)*200
			e := gatlingEvent{from: from, to: from + 30, ok: true}
			if i%10 == 9 {
				e.ok, e.message = false, "status.find.is(200), but actually found 503"
			}
			s.events = append(s.events, e)
		}
		s.events = append(s.events, gatlingEvent{kind: gatlingEnd, from: start + int64(each)*200 + 2, scenario: "orders"})
	}
	slices.SortStableFunc(s.events, func(a, b gatlingEvent) int { return int(max(a.from, a.to) - max(b.from, b.to)) })
	return s
}

// closedSimulation has five users, each following another at once.
func closedSimulation(n int) simulation {
	s := simulation{scenarios: []string{"orders"}}
	at := [5]int64{0, 7, 11, 13, 17}
	for i := range n {
		u := i % 5
		from := gatlingBegin + at[u]
		took := int64(30 + i*13%17)
		s.events = append(
			s.events,
			gatlingEvent{kind: gatlingStart, from: from, scenario: "orders"},
			gatlingEvent{from: from, to: from + took, ok: true},
			gatlingEvent{kind: gatlingEnd, from: from + took, scenario: "orders"},
		)
		at[u] += took
	}
	return s
}

// text writes the log as Gatling 3.4 to 3.12 does, or as earlier ones.
func (s *simulation) text(old bool) string {
	var b strings.Builder
	b.WriteString("ASSERTION\tAAEFAAEBAQ==\nRUN\torders.Simulation\torders\t" + itoa(gatlingBegin) + "\t \t3.11.5\n")
	for _, e := range s.events {
		switch {
		case e.kind == gatlingRequest:
			status, message := "KO", e.message
			if e.ok {
				status, message = "OK", " "
			}
			user := ""
			if old {
				user = "17\t"
			}
			fmt.Fprintf(&b, "REQUEST\t%s\tGET /\t%d\t%d\t%s\t%s\n", user, e.from, e.to, status, message)
		default:
			what := "START"
			if e.kind == gatlingEnd {
				what = "END"
			}
			if old {
				fmt.Fprintf(&b, "USER\t%s\t17\t%s\t%d\t%d\n", e.scenario, what, e.from, e.from)
			} else {
				fmt.Fprintf(&b, "USER\t%s\t%s\t%d\n", e.scenario, what, e.from)
			}
		}
	}
	b.WriteString("GROUP\tcart\t1\t2\t3\tOK\nERROR\tno data left \t1796046000001\n")
	return b.String()
}

// javaLog writes records as Gatling 3.13 does.
type javaLog struct {
	b     []byte
	texts map[string]int32
}

func (l *javaLog) int(v int32) { l.b = binary.BigEndian.AppendUint32(l.b, uint32(v)) }

func (l *javaLog) string(s string) {
	if s == "" {
		l.int(0)
		return
	}
	for _, r := range s {
		if r > 255 { // UTF-16
			l.int(int32(2 * len([]rune(s))))
			for _, r := range s {
				l.b = binary.LittleEndian.AppendUint16(l.b, uint16(r))
			}
			l.b = append(l.b, 1)
			return
		}
	}
	l.int(int32(len([]rune(s))))
	for _, r := range s {
		l.b = append(l.b, byte(r))
	}
	l.b = append(l.b, 0)
}

func (l *javaLog) cached(s string) {
	if i, ok := l.texts[s]; ok {
		l.int(-i)
		return
	}
	l.texts[s] = int32(len(l.texts) + 1)
	l.int(l.texts[s])
	l.string(s)
}

func (l *javaLog) bool(v bool) {
	if v {
		l.b = append(l.b, 1)
	} else {
		l.b = append(l.b, 0)
	}
}

func (s *simulation) binary() string {
	l := &javaLog{texts: map[string]int32{}}
	l.b = append(l.b, gatlingRunRecord)
	l.string("3.13.4")
	l.string("orders.Simulation")
	l.b = binary.BigEndian.AppendUint64(l.b, uint64(gatlingBegin))
	l.string("größer → 漢字")
	l.int(int32(len(s.scenarios)))
	for _, name := range s.scenarios {
		l.string(name)
	}
	l.int(1)
	l.int(3)
	l.b = append(l.b, 1, 2, 3)
	for _, e := range s.events {
		switch e.kind {
		case gatlingRequest:
			l.b = append(l.b, gatlingRequestRecord)
			l.int(1)
			l.cached("cart")
			l.cached("GET /")
			l.int(int32(e.from - gatlingBegin))
			l.int(int32(e.to - gatlingBegin))
			l.bool(e.ok)
			l.cached(e.message)
		default:
			l.b = append(l.b, gatlingUserRecord)
			l.int(int32(slices.Index(s.scenarios, e.scenario)))
			l.bool(e.kind == gatlingStart)
			l.int(int32(e.from - gatlingBegin))
		}
	}
	l.b = append(l.b, gatlingGroupRecord)
	l.int(1)
	l.cached("cart")
	for range 3 {
		l.int(5)
	}
	l.bool(true)
	l.b = append(l.b, gatlingErrorRecord)
	l.cached("no data left")
	l.int(7)
	return string(l.b)
}

func TestGatlingEncodingsAgree(t *testing.T) {
	t.Parallel()
	s := openSimulation(2000, 1)
	want, r, err := importText(t, "simulation.log", s.text(false))
	if err != nil || r.Format != "gatling-text" || r.Rows != 2000 || r.Bad != 0 || r.Grade() != "B" {
		t.Fatalf("%+v, %v", r, err)
	}
	shed := 0
	for i, row := range want.rows {
		if row.Index != int64(i) || row.Sent != (gatlingBegin+int64(i)*25+int64(i%2)+1)*1e6 || row.Done-row.Sent != 30e6 {
			t.Fatalf("row %d: %+v", i, row)
		}
		if row.Outcome == sample.Shed {
			shed++
		}
	}
	if g := want.groups[0]; g.Rate != 40 || g.Scenario != "orders" || g.Model != sample.Open || shed != 200 {
		t.Errorf("group %+v, %d shed, %v", g, shed, r.Warnings)
	}
	for what, text := range map[string]string{"old text": s.text(true), "binary": s.binary()} {
		k, r, err := importText(t, "simulation.log", text)
		if err != nil || r.Bad != 0 || !slices.Equal(k.rows, want.rows) {
			t.Errorf("%s: %d rows, %+v, %v", what, len(k.rows), r, err)
		}
	}
}

func TestGatlingInjections(t *testing.T) {
	t.Parallel()
	s := closedSimulation(1000)
	k, r, err := importText(t, "simulation.log", s.binary())
	if err != nil || k.groups[0].Model != sample.Closed || r.Grade() != "S" || len(r.Advice) != 1 {
		t.Errorf("closed: %+v, %v", r, err)
	}
	s = openSimulation(1000, 2)
	k, r, err = importText(t, "simulation.log", s.binary())
	if err != nil || k.groups[0].Rate != 40 {
		t.Fatalf("two requests: %+v, %v", r, err)
	}
	numbered := 0
	for _, row := range k.rows {
		if row.Index != sample.NoIndex {
			numbered++
		} else if row.Flags != sample.StartIsDue {
			t.Errorf("row %+v", row)
		}
	}
	if numbered != 1000 {
		t.Errorf("%d rows have a number", numbered)
	}
}

func TestGatlingBroken(t *testing.T) {
	t.Parallel()
	s := openSimulation(100, 1)
	text := s.binary()
	_, r, err := importText(t, "simulation.log", text[:len(text)-40])
	if err != nil || !r.Torn {
		t.Errorf("cut off: %+v, %v", r, err)
	}
	_, _, err = importText(t, "simulation.log", text[:1000]+"\x09"+text[1000:])
	if err == nil || !strings.Contains(err.Error(), "at offset ") {
		t.Errorf("broken: %v", err)
	}
	_, r, err = importText(t, "simulation.log", s.text(false)+"NONSENSE\tx\nREQUEST\t\tx\n")
	if err != nil || r.Bad != 2 || !strings.Contains(r.FirstBad, "line ") {
		t.Errorf("text: %+v, %v", r, err)
	}
}

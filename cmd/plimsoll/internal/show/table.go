package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// width is that of a terminal that a verdict fits into.
const width = 100

// printer writes lines and remembers the first error.
type printer struct {
	w      io.Writer
	colour bool
	err    error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " ")+"\n")
	}
}

// paint colours a word by what it says.
func (p *printer) paint(word string) string {
	if !p.colour {
		return word
	}
	var code string
	switch strings.ToLower(strings.TrimSpace(word)) {
	case wire.OutcomePass, wire.ClassStable:
		code = "32"
	case wire.OutcomeFail, wire.ClassUnstable, wire.ClassLossy:
		code = "31"
	case wire.OutcomeInconclusive, wire.OutcomeInvalid, wire.ClassShedding, wire.Warn:
		code = "33"
	default:
		return word
	}
	return "\x1b[" + code + ";1m" + word + "\x1b[0m"
}

// Table writes a verdict for a person at a terminal, with hints under what it says
// of the run.
func Table(w io.Writer, v *wire.Verdict, colour bool, hints ...string) error {
	p := &printer{w: w, colour: colour}
	p.line("%s  %s", p.paint(strings.ToUpper(clean(v.Outcome))), cut(clean(v.Run.Name), width-20))
	for _, l := range wrap(clean(v.Headline), width) {
		p.line("%s", l)
	}
	p.line("")
	p.about(v)
	for _, h := range hints {
		if h != "" {
			p.line("%s", h)
		}
	}
	if len(v.Steps) > 0 {
		p.line("")
		p.rates(v)
		p.line("")
		p.times(v)
		p.line("")
		p.notes(v)
	}
	p.judgements(v)
	p.findings(v)
	return p.err
}

// about describes the run in one or two lines.
func (p *printer) about(v *wire.Verdict) {
	r := &v.Run
	parts := []string{"run " + cut(clean(r.ID), 48)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, together(strings.TrimSpace(name+" "+cut(clean(value), 40))))
		}
	}
	add("", r.State)
	add("from", r.Generator)
	if r.StartedAt != nil {
		text := r.StartedAt.UTC().Format("2006-01-02 15:04:05Z")
		if r.EndedAt != nil {
			text += " for " + seconds(r.EndedAt.Sub(*r.StartedAt).Seconds())
		}
		add("", text)
	}
	if r.Grade != nil {
		add("grade", *r.Grade)
	}
	if r.DeadlineS != nil {
		add("deadline", seconds(*r.DeadlineS))
	}
	if r.FirstByteDeadlineS != nil {
		add("first byte within", seconds(*r.FirstByteDeadlineS))
	}
	if r.OfferedSource != "" {
		add("rate", r.OfferedSource)
	}
	add("loop", v.Audit.Loop)
	for _, l := range wrap(strings.Join(parts, " · "), width) {
		p.line("%s", l)
	}
	if r.State == wire.Live {
		p.line("the run is live: this is what has been kept so far, and it may change")
	}
}

// label names a step in the tables, by its number in the document and in findings.
func label(st *wire.Step) string {
	text := strconv.Itoa(st.Index)
	if st.Name != "" {
		text += " " + clean(st.Name)
	}
	return cut(text, 18)
}

// rates writes what was offered to each step and what came of it.
func (p *printer) rates(v *wire.Verdict) {
	rows := [][]string{{"STEP", "CLASS", "LASTS", "OFFERED", "COMPLETED", "GOODPUT", "IN FLIGHT BY HALVES", "AT END", "DRAIN"}}
	for i := range v.Steps {
		st := &v.Steps[i]
		rows = append(rows, []string{
			label(st), clean(st.Class), seconds(st.DurationS), rate(st.Offered), rate(st.Completed), rate(st.Goodput),
			plain(st.InFlight.FirstHalf) + " → " + plain(st.InFlight.SecondHalf), plain(st.InFlight.AtEnd), maybeSeconds(st.DrainS),
		})
	}
	for i, l := range columns(rows, 1) {
		if i > 0 && p.colour && rows[i][1] != "" {
			l = strings.Replace(l, "  "+rows[i][1], "  "+p.paint(rows[i][1]), 1)
		}
		p.line("%s", l)
	}
}

// times writes what users felt beside what an uncorrected tool would report.
func (p *printer) times(v *wire.Verdict) {
	p.line("response time: from when a request was due; service time (uncorrected): from when it was sent")
	rows := [][]string{{"STEP", "RESPONSE p50", "p95", "p99", "SERVICE p50", "p99", "N"}}
	for i := range v.Steps {
		st := &v.Steps[i]
		row := append([]string{label(st)}, quantiles(&st.ResponseTime, true)...)
		row = append(row, quantiles(&st.ServiceTime, false)...)
		rows = append(rows, append(row, whole(st.ResponseTime.N)))
	}
	for _, l := range columns(rows) {
		p.line("%s", l)
	}
}

func quantiles(r *wire.Response, middle bool) []string {
	cells := []string{quantile(&r.P50), quantile(&r.P99)}
	if middle {
		cells = []string{cells[0], quantile(&r.P95), cells[1]}
	}
	if !r.Valid {
		for i := range cells {
			cells[i] = "no number"
		}
	}
	return cells
}

// notes writes per step why there is no number, the balance and Little's law.
func (p *printer) notes(v *wire.Verdict) {
	for i := range v.Steps {
		st := &v.Steps[i]
		texts := []string{balance(&st.Balance), little(&st.LittlesLaw)}
		if text := tokens(st); text != "" {
			texts = append(texts, text)
		}
		if r := &st.ResponseTime; !r.Valid && r.N+st.Due > 0 {
			texts = append(texts, "no number: "+strings.TrimPrefix(refusal(st), "no number: "))
		} else if r.Valid && !r.Steady && st.Class == wire.ClassUnstable {
			texts = append(texts, "its percentiles depend on how long was measured: the backlog grew")
		}
		p.wrapped("step "+label(st), texts...)
	}
}

// tokens says how the answers of a model came, where it is known.
func tokens(st *wire.Step) string {
	if st.InterToken == nil && st.TokensPerS == nil {
		return ""
	}
	var parts []string
	for _, c := range []struct {
		name string
		of   *wire.Response
	}{{"first token", st.FirstByte}, {"between tokens", st.InterToken}} {
		if c.of == nil {
			continue
		}
		cells := quantiles(c.of, false)
		parts = append(parts, together(c.name+" p50 "+cells[0]+", p99 "+cells[1]))
	}
	if st.TokensPerS != nil {
		parts = append(parts, together("tokens "+rate(st.TokensPerS)))
	}
	return strings.Join(parts, " · ")
}

// wrapped writes texts behind a name, one below the other.
func (p *printer) wrapped(name string, texts ...string) {
	head := name + ": "
	for _, text := range texts {
		for _, l := range wrap(text, width-len([]rune(head))) {
			p.line("%s%s", head, l)
			head = strings.Repeat(" ", len([]rune(head)))
		}
	}
}

func refusal(st *wire.Step) string {
	switch {
	case st.ResponseTime.Reason != "":
		return clean(st.ResponseTime.Reason)
	case st.Dropped > 0:
		return percent(st.DroppedRatio) + " dropped"
	default:
		return "the data cannot say"
	}
}

// balance writes where the requests of a step went; the sums agree.
func balance(b *wire.Balance) string {
	text := fmt.Sprintf("due %s + carried in %s = ", whole(b.Due), whole(b.CarriedIn))
	var terms []string
	for _, t := range []struct {
		name string
		n    int64
	}{
		{"dropped", b.Dropped},
		{"good", b.Good},
		{"late", b.Late},
		{"error", b.Error},
		{"timeout", b.Timeout},
		{"shed", b.Shed},
		{"cancelled", b.Cancelled},
		{"open at end", b.OpenAtEnd},
	} {
		if t.n != 0 {
			terms = append(terms, t.name+" "+whole(t.n))
		}
	}
	if len(terms) == 0 {
		return text + "0"
	}
	return text + strings.Join(terms, " + ")
}

// little writes the check of the measurement.
func little(l *wire.Little) string {
	if l.Counted == nil || l.Corrected == nil {
		if l.Note != "" {
			return "Little's law: " + clean(l.Note)
		}
		return ""
	}
	text := fmt.Sprintf("Little's law: counted %s in flight against λ·W %s", number(*l.Counted), number(*l.Corrected))
	if l.Residual != nil {
		text += ", off by " + percent(*l.Residual)
		if l.Tolerance != nil {
			text += " of " + percent(*l.Tolerance) + " allowed"
		}
	}
	switch {
	case !l.Independent:
		text += ": both from the same spans, which proves nothing"
	case l.OK != nil && *l.OK:
		text += ": the measurement is consistent"
	case l.OK != nil:
		text += ": THE MEASUREMENT IS NOT CONSISTENT"
	}
	return text
}

// judgements writes what goes beyond single steps, as far as it was tested.
func (p *printer) judgements(v *wire.Verdict) {
	k := &v.Knee
	if k.Capacity != nil && k.Capacity.Value != nil {
		p.wrapped("capacity", interval(k.Capacity))
	}
	if k.State != wire.NotTested && k.State != "" {
		text := strings.ReplaceAll(clean(k.State), "_", " ")
		if k.Offered != nil {
			text += " at " + rate(k.Offered)
		}
		if k.Shape != nil {
			text += ", then " + clean(*k.Shape)
		}
		if k.Recommended != nil {
			text += "; recommended at most " + rate(k.Recommended)
		}
		p.wrapped("knee", text)
	}
	if m := &v.Metastability; m.State != wire.NotTested && m.State != "" {
		text := clean(m.State)
		if m.RecoveredAfterS != nil {
			text += " after " + seconds(*m.RecoveredAfterS)
		}
		if m.EtaS != nil {
			text += ", " + seconds(*m.EtaS) + " to go"
		}
		p.wrapped("after the push", text)
	}
	if s := v.SaturationThroughput; s != nil && s.Value != nil {
		p.wrapped("saturation throughput", interval(s))
	}
}

func (p *printer) findings(v *wire.Verdict) {
	all := allFindings(v)
	if len(all) == 0 {
		return
	}
	p.line("")
	for _, f := range all {
		text := clean(f.Message) + " [" + clean(f.Code) + "]"
		if f.Step != nil {
			text = fmt.Sprintf("step %d: ", *f.Step) + text
		}
		severity := fmt.Sprintf("%-7s", clean(f.Severity))
		for i, l := range wrap(text, width-9) {
			if i > 0 {
				severity = strings.Repeat(" ", 7)
			}
			p.line("%s  %s", p.paint(severity), l)
		}
	}
}

// allFindings joins the findings of the run and of the audit, each once.
func allFindings(v *wire.Verdict) []wire.Finding {
	type identity struct {
		code, message string
		step          int
	}
	seen := map[identity]bool{}
	var all []wire.Finding
	for _, list := range [][]wire.Finding{v.Findings, v.Audit.Findings} {
		for _, f := range list {
			id := identity{f.Code, f.Message, -1}
			if f.Step != nil {
				id.step = *f.Step
			}
			if !seen[id] {
				seen[id] = true
				all = append(all, f)
			}
		}
	}
	return all
}

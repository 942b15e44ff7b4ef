package show

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// JSON writes a document as the server sent it, indented. Characters that could
// control a terminal are written as escapes, which decode to the same text.
func JSON(w io.Writer, body []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(body), "", "  "); err != nil {
		return fmt.Errorf("indent document: %w", err)
	}
	var out strings.Builder
	for _, r := range b.String() {
		switch {
		case r == '\n' || r == ' ':
			out.WriteRune(r)
		case (unicode.IsControl(r) || hidden(r)) && r <= 0xFFFF:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('\n')
	_, err := io.WriteString(w, out.String())
	return err
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    string       `xml:"time,attr"`
	Failure *junitResult `xml:"failure,omitempty"`
	Error   *junitResult `xml:"error,omitempty"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes a verdict as a test suite: one case for the outcome, one for each
// objective and one for each step. What failed is a failure, what could not be decided is an error.
func JUnit(w io.Writer, v *wire.Verdict) error {
	class := "plimsoll." + clean(v.Run.Name)
	suite := junitSuite{Name: "plimsoll " + clean(v.Run.ID)}
	total := 0.0
	add := func(c junitCase, length float64) {
		c.Class, c.Time = class, strconv.FormatFloat(length, 'f', 3, 64)
		suite.Tests++
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, c)
	}
	outcome := junitCase{Name: "outcome", Out: clean(v.Headline)}
	switch result := (&junitResult{Message: clean(v.Headline), Type: clean(v.Outcome)}); v.Outcome {
	case wire.OutcomePass:
	case wire.OutcomeFail:
		outcome.Failure = result
	default:
		outcome.Error = result
	}
	add(outcome, 0)
	for i := range v.Objectives {
		add(junitObjective(&v.Objectives[i]), 0)
	}
	for i := range v.Steps {
		st := &v.Steps[i]
		total += st.DurationS
		add(junitStep(v, st), st.DurationS)
	}
	suite.Time = strconv.FormatFloat(total, 'f', 3, 64)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitObjective(h *wire.Held) junitCase {
	name := "objective " + h.Title
	if h.Scenario != "" {
		name += " of " + h.Scenario
	}
	if h.Step != "" {
		name += " in " + h.Step
	}
	c := junitCase{Name: clean(name)}
	switch result := (&junitResult{Message: clean(h.Message), Type: clean(h.State)}); h.State {
	case wire.Missed:
		c.Failure = result
	case wire.Undecided:
		c.Error = result
	}
	return c
}

func junitStep(v *wire.Verdict, st *wire.Step) junitCase {
	c := junitCase{Name: "step " + label(st), Out: balance(&st.Balance)}
	for _, f := range allFindings(v) {
		if f.Step == nil || *f.Step != st.Index {
			continue
		}
		to := &c.Failure
		switch f.Severity {
		case wire.Fail:
		case wire.Invalid:
			to = &c.Error
		default:
			continue
		}
		text := clean(f.Message)
		if *to == nil {
			*to = &junitResult{Message: text, Type: clean(f.Code), Text: text}
		} else {
			(*to).Text += "\n" + text
		}
	}
	return c
}

// GitHub writes a verdict as workflow commands, which show as annotations.
func GitHub(w io.Writer, v *wire.Verdict) error {
	p := &printer{w: w}
	level := "error"
	switch v.Outcome {
	case wire.OutcomePass:
		level = "notice"
	case wire.OutcomeInconclusive:
		level = "warning"
	}
	p.annotate(level, "plimsoll: "+v.Outcome+" "+v.Run.Name, v.Headline)
	for _, f := range allFindings(v) {
		level := map[string]string{wire.Fail: "error", wire.Invalid: "error", wire.Warn: "warning"}[f.Severity]
		if level == "" {
			level = "notice"
		}
		title := "plimsoll: " + f.Code
		if f.Step != nil {
			title += fmt.Sprintf(" (step %d)", *f.Step)
		}
		p.annotate(level, title, f.Message)
	}
	return p.err
}

func (p *printer) annotate(level, title, message string) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	p.line("::%s title=%s::%s", level, property.Replace(clean(title)), data.Replace(clean(message)))
}

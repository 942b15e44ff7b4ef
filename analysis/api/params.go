package api

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/grammar"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// Bounds of parameters.
const (
	maxPoints      = 11_000
	defaultPoints  = 1_000
	maxNames       = 50
	maxObjectives  = 50
	maxTextLength  = 1_024
	defaultLimit   = 50
	maxLimit       = 500
	defaultColumns = "offered,completed,goodput,in_flight,response_p50,response_p99"
)

// Parameters that a call may take.
var (
	commonParams = []string{"deadline_s", "first_byte_deadline_s", "from", "to", "scenario", "source"}
	listParams   = []string{"limit", "cursor", "q"}
)

// values reads the query of a call that knows the given parameters. A
// parameter that it does not know is refused: a misspelt deadline that changes
// nothing would be believed.
func values(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badParameter("query", "cannot be decoded", "escape it as a URL query")
	}
	for name, all := range q {
		if !slices.Contains(known, name) {
			hint := "this call takes no parameters"
			if len(known) > 0 {
				hint = "this call takes " + strings.Join(known, ", ")
			}
			return nil, badParameter(strconv.Quote(clip(name)), "is unknown", hint)
		}
		if len(all) > 1 && name != "objective" && name != "names" && name != "runs" {
			return nil, badParameter(name, "is given twice", "give it once")
		}
		for _, v := range all {
			if len(v) > maxTextLength && name != "names" {
				return nil, badParameter(name, fmt.Sprintf("is longer than %d bytes", maxTextLength), "")
			}
		}
	}
	return q, nil
}

// options reads the common parameters, and those of extra that the call takes.
func options(r *http.Request, extra ...string) (query.Options, error) {
	var o query.Options
	q, err := values(r, append(slices.Clone(commonParams), extra...)...)
	if err != nil {
		return o, err
	}
	if o.DeadlineS, err = seconds(q, "deadline_s"); err != nil {
		return o, err
	}
	if o.FirstByteDeadlineS, err = seconds(q, "first_byte_deadline_s"); err != nil {
		return o, err
	}
	if o.From, err = instant(q, "from"); err != nil {
		return o, err
	}
	if o.To, err = instant(q, "to"); err != nil {
		return o, err
	}
	if o.From != nil && o.To != nil && !o.From.Before(*o.To) {
		return o, badParameter("to", "is not after from", "")
	}
	o.Scenario, o.Source = q.Get("scenario"), q.Get("source")
	if slices.Contains(extra, "max_points") {
		if o.MaxPoints, err = count(q, "max_points", defaultPoints, maxPoints); err != nil {
			return o, err
		}
	}
	if slices.Contains(extra, "names") {
		if o.Names, err = columns(q); err != nil {
			return o, err
		}
	}
	if slices.Contains(extra, "steps") {
		if o.Steps, err = indexes(q); err != nil {
			return o, err
		}
	}
	for _, text := range q["objective"] {
		objective, err := grammar.ParseObjective(text)
		if err != nil {
			return o, badParameter("objective", err.Error(), "write it like p99<300ms, error<1%, goodput>=99% or carry>=450/s")
		}
		o.Objectives = append(o.Objectives, objective)
	}
	if len(o.Objectives) > maxObjectives {
		return o, badParameter("objective", fmt.Sprintf("is given more than %d times", maxObjectives), "")
	}
	return o, nil
}

// indexes reads the steps that are asked for.
func indexes(q url.Values) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(q.Get("steps"), ",") {
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, badParameter("steps", strconv.Quote(clip(part))+" is not the index of a step", "write them like 0,1,2")
		}
		out = append(out, n)
	}
	return out, nil
}

func seconds(q url.Values, name string) (*float64, error) {
	if !q.Has(name) {
		return nil, nil
	}
	v, err := strconv.ParseFloat(q.Get(name), 64)
	if err != nil || math.IsNaN(v) || v <= 0 || v > 1e9 {
		return nil, badParameter(name, strconv.Quote(clip(q.Get(name)))+" is not a positive number of seconds", "write it like 0.3 or 2")
	}
	return &v, nil
}

func instant(q url.Values, name string) (*time.Time, error) {
	if !q.Has(name) {
		return nil, nil
	}
	t, err := time.Parse(time.RFC3339Nano, q.Get(name))
	if err != nil || t.Year() < 1970 || t.Year() > 2261 {
		return nil, badParameter(name, strconv.Quote(clip(q.Get(name)))+" is not a time", "write it like 2026-11-30T10:00:00Z (RFC 3339; escape a +)")
	}
	t = t.UTC()
	return &t, nil
}

func count(q url.Values, name string, byDefault, most int) (int, error) {
	if !q.Has(name) {
		return byDefault, nil
	}
	v, err := strconv.Atoi(q.Get(name))
	if err != nil || v < 1 || v > most {
		return 0, badParameter(name, fmt.Sprintf("%q is not a whole number within 1 and %d", clip(q.Get(name)), most), "")
	}
	return v, nil
}

func columns(q url.Values) ([]string, error) {
	text := strings.Join(q["names"], ",")
	if !q.Has("names") {
		text = defaultColumns
	}
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !query.KnownSeries(name) || len(name) > maxTextLength {
			return nil, badParameter("names", strconv.Quote(clip(name))+" is not a series", "known are "+strings.Join(query.SeriesNames(), ", "))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > maxNames {
		return nil, badParameter("names", fmt.Sprintf("names more than %d series", maxNames), "ask in several calls")
	}
	return names, nil
}

// clip shortens text from outside before it is shown.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// Kinds of queries.
const (
	kindVerdict     = "verdict"
	kindSteps       = "steps"
	kindKnee        = "knee"
	kindSeries      = "series"
	kindSpectrum    = "spectrum"
	kindHeatmap     = "heatmap"
	kindLittle      = "littleslaw"
	kindFindings    = "findings"
	kindGoodput     = "goodput"
	kindCompare     = "compare"
	kindRuns        = "runs"
	kindCapacity    = "capacity"
	kindAlert       = "alert"
	kindAnnotations = "annotations"
)

// Kinds lists the kinds of queries, for tests of dashboards.
func Kinds() []string {
	return []string{
		kindVerdict, kindSteps, kindKnee, kindSeries, kindSpectrum, kindHeatmap, kindLittle, kindFindings,
		kindGoodput, kindCompare, kindRuns, kindCapacity, kindAlert, kindAnnotations,
	}
}

// queryVersion is the shape of Query that this program writes. Older shapes are
// brought up to date by migrate.
const queryVersion = 1

// Query is what a panel, a rule or an annotation asks.
type Query struct {
	Kind     string   `json:"queryType"`
	Version  int      `json:"version"`
	Run      string   `json:"run"`      // an id, latest or latest:NAME; before, of a comparison
	Other    string   `json:"other"`    // after, of a comparison
	Scenario string   `json:"scenario"` // empty: all of them
	Source   string   `json:"source"`   // empty: all of them
	Step     string   `json:"step"`     // name, index or rate; empty: all of them
	Deadline string   `json:"deadline"` // 300ms, 2 or 2s; empty: as declared
	Prefix   string   `json:"prefix"`   // before the names of curves, to tell runs apart
	Names    []string `json:"names"`    // columns of a series
	Clock    string   `json:"clock"`    // wall, or elapsed: seconds since the run began
	Search   string   `json:"search"`   // part of the id or name of runs
	Limit    int      `json:"limit"`    // most runs
	Measure  string   `json:"measure"`  // of an alert: outcome, unstable, generator, goodput, recovery
	HoldMin  float64  `json:"holdMin"`  // minutes for which a finished run goes on to count
	Show     []string `json:"show"`     // kinds of annotations

	refID     string
	maxPoints int64
	span      backend.TimeRange
	deadline  deadline
}

// readQuery decodes a query, brings it up to date and fills in its defaults.
func readQuery(in backend.DataQuery) (*Query, error) {
	q := &Query{}
	if err := json.Unmarshal(in.JSON, q); err != nil {
		return nil, fmt.Errorf("read query: %w", err)
	}
	if in.QueryType != "" {
		q.Kind = in.QueryType
	}
	if err := migrate(q); err != nil {
		return nil, err
	}
	q.refID, q.maxPoints, q.span = in.RefID, in.MaxDataPoints, in.TimeRange
	q.defaults()
	var err error
	if q.deadline, err = readDeadline(q.Deadline); err != nil {
		return nil, err
	}
	return q, q.check()
}

// migrate brings an older query up to date. Version 0 is one that never said.
func migrate(q *Query) error {
	if q.Version > queryVersion {
		return fmt.Errorf("query was saved by a newer version of this data source (%d): update the plugin", q.Version)
	}
	q.Version = queryVersion
	return nil
}

func (q *Query) defaults() {
	if q.Kind == "" {
		q.Kind = kindVerdict
	}
	for _, v := range []*string{&q.Run, &q.Other, &q.Scenario, &q.Source, &q.Step, &q.Deadline, &q.Search} {
		*v = strings.TrimSpace(*v)
	}
	for _, v := range []*string{&q.Scenario, &q.Source, &q.Step} {
		if *v == "$__all" || *v == "*" || strings.EqualFold(*v, "all") {
			*v = ""
		}
	}
	if q.Run == "" {
		q.Run = "latest"
	}
	if q.Names == nil { // a variable may leave an empty list: that asks for nothing
		q.Names = []string{"offered", "completed", "goodput"}
	}
	if q.Measure == "" {
		q.Measure = measureOutcome
	}
	if q.HoldMin == 0 {
		q.HoldMin = 15
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	if len(q.Show) == 0 {
		q.Show = annotationKinds()
	}
}

func (q *Query) check() error {
	var problems []error
	if !slices.Contains(Kinds(), q.Kind) {
		problems = append(problems, fmt.Errorf("query type %q is unknown: choose one of %s", q.Kind, strings.Join(Kinds(), ", ")))
	}
	if q.Kind == kindCompare && q.Other == "" {
		problems = append(problems, errors.New("comparison needs a second run: choose the run after"))
	}
	if q.Kind == kindAlert && !slices.Contains(measures(), q.Measure) {
		problems = append(problems, fmt.Errorf("measure %q is unknown: choose one of %s", q.Measure, strings.Join(measures(), ", ")))
	}
	if q.Clock != "" && q.Clock != "wall" && q.Clock != "elapsed" {
		problems = append(problems, fmt.Errorf("clock %q is neither wall nor elapsed", q.Clock))
	}
	if q.HoldMin < 0 || q.HoldMin > 1440 {
		problems = append(problems, errors.New("hold is not within 0 and 1440 minutes"))
	}
	for _, s := range q.Show {
		if !slices.Contains(annotationKinds(), s) {
			problems = append(problems, fmt.Errorf("annotation %q is unknown: choose of %s", s, strings.Join(annotationKinds(), ", ")))
		}
	}
	return errors.Join(problems...)
}

// deadline is the patience of a client in seconds; 0 leaves it as declared.
type deadline struct {
	whole     float64 // until the answer has ended
	firstByte float64 // until its first byte or token
}

// readDeadline reads a deadline as people write it: 300ms, 2 (seconds), or in
// parts ttft:500ms,e2e:5s.
func readDeadline(text string) (deadline, error) {
	var d deadline
	if text == "" || strings.EqualFold(text, "declared") {
		return d, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(strings.TrimSpace(part), ":")
		if !named {
			name, value = "e2e", name
		}
		seconds, err := readTime(value)
		if err != nil {
			return d, err
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "e2e":
			d.whole = seconds
		case "ttft":
			d.firstByte = seconds
		default:
			return d, fmt.Errorf("deadline %q: %q is neither e2e nor ttft", text, name)
		}
	}
	return d, nil
}

func readTime(text string) (float64, error) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		d, wrong := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if wrong != nil {
			return 0, fmt.Errorf("deadline %q is not a time: write it like 300ms or 2s", text)
		}
		seconds = d.Seconds()
	}
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0, fmt.Errorf("deadline %q is not a positive time", text)
	}
	return seconds, nil
}

// params are the parameters that every question about a run takes.
func (q *Query) params() url.Values {
	out := url.Values{}
	for name, v := range map[string]float64{"deadline_s": q.deadline.whole, "first_byte_deadline_s": q.deadline.firstByte} {
		if v > 0 {
			out.Set(name, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	if q.Scenario != "" {
		out.Set("scenario", q.Scenario)
	}
	if q.Source != "" {
		out.Set("source", q.Source)
	}
	return out
}

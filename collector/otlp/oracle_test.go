package otlp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// flatRow is a row with all that its batch and group say about it.
type flatRow struct {
	Run, Name string
	Group     sample.Group
	Row       sample.Row
}

func flatten(batches []*sample.Batch) []flatRow {
	var rows []flatRow
	for _, b := range batches {
		for i := range b.Len() {
			r := b.Row(i)
			f := flatRow{Run: b.RunID, Group: b.Groups[r.Group], Row: r}
			f.Row.Group = 0
			rows = append(rows, f)
		}
	}
	sortRows(rows)
	return rows
}

func sortRows(rows []flatRow) {
	slices.SortFunc(rows, func(a, b flatRow) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// oracle reads full spans in the most obvious way. It keeps only counts of what
// is not a row.
type oracle struct {
	table   *convention.Table
	rows    []flatRow
	refused int64
	spans   []*oracleSpan
}

type oracleSpan struct {
	s                ptrace.Span
	resource, own    attributes
	source, gen      string
	nests, known     bool
	parts            bool
	iterations       bool
	outer            *oracleSpan
	isOuter, isLoose bool
	isInner          bool
}

func (sp *oracleSpan) client() bool { return sp.s.Kind() == ptrace.SpanKindClient && !sp.parts }

func (sp *oracleSpan) operation() bool {
	return sp.own.is(convention.ModelOperation) || sp.own.is(convention.OutputTokens)
}

func (sp *oracleSpan) counts() bool {
	if sp.iterations {
		return sp.s.ParentSpanID().IsEmpty() && sp.s.Name() == convention.IterationSpan
	}
	warmUp := sp.known && convention.RootsWarmUp(sp.gen) && sp.s.ParentSpanID().IsEmpty()
	return sp.client() && !sp.isOuter && !sp.isInner && !warmUp
}

func (o *oracle) read(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		var res attributes
		fill(o.table, &res, rs.Resource().Attributes())
		source := string(convention.AppendSource(nil, &res.id))
		for _, ss := range rs.ScopeSpans().All() {
			scope := []byte(ss.Scope().Name())
			gen, known := convention.KnownGenerator(scope, res.id.Name)
			if !known {
				gen = string(convention.AppendSafe(nil, res.id.Name, convention.MaxText))
			}
			if gen == "" {
				gen = string(convention.AppendSafe(nil, scope, convention.MaxText))
			}
			for _, s := range ss.Spans().All() {
				sp := &oracleSpan{s: s, resource: res, source: source, gen: gen, nests: convention.NestsClients(scope), known: known, parts: convention.PartsOfRequests(scope), iterations: convention.Iterations(scope)}
				fill(o.table, &sp.own, s.Attributes())
				o.spans = append(o.spans, sp)
			}
		}
	}
	o.relate()
	for _, sp := range o.spans {
		if sp.counts() {
			o.row(sp)
		}
	}
	o.name()
	sortRows(o.rows)
}

// relate finds the client spans around client spans.
func (o *oracle) relate() {
	type key struct {
		trace pcommon.TraceID
		id    pcommon.SpanID
	}
	byID := map[key]*oracleSpan{}
	for _, sp := range o.spans {
		k := key{sp.s.TraceID(), sp.s.SpanID()}
		if _, dup := byID[k]; !dup && !k.id.IsEmpty() {
			byID[k] = sp
		}
	}
	for _, sp := range o.spans {
		if !sp.client() || sp.s.ParentSpanID().IsEmpty() || sp.s.SpanID().IsEmpty() {
			continue
		}
		p := byID[key{sp.s.TraceID(), sp.s.ParentSpanID()}]
		switch {
		case p == nil:
			sp.isLoose = true
		case p != sp && p.client():
			sp.outer, sp.isLoose = p, true
		}
	}
	for _, sp := range o.spans {
		for p, n := sp.outer, 0; p != nil && n < maxDepth; p, n = p.outer, n+1 {
			sp.isInner = sp.isInner || p.operation() && !sp.operation()
		}
		if sp.outer != nil && !sp.isInner {
			sp.outer.isOuter = true
		}
	}
}

func (o *oracle) row(sp *oracleSpan) {
	a := sp.own
	for p, n := sp.outer, 0; p != nil && n < maxDepth; p, n = p.outer, n+1 {
		a.inherit(&p.own)
	}
	start, end := uint64(sp.s.StartTimestamp()), uint64(sp.s.EndTimestamp())
	if start == 0 || end == 0 || end < start || end > math.MaxInt64 || !plausible(int64(start)) || !plausible(int64(end)) {
		o.refused++
		return
	}
	d := Decoder{table: o.table, resource: sp.resource, intern: newIntern()}
	f := flatRow{Run: d.intern.text(runOf(&a, &sp.resource)), Group: d.group(&stream{source: sp.source, generator: sp.gen, known: sp.known}, &a)}
	r := sample.Row{Sent: int64(start), Done: int64(end), Index: sample.NoIndex}
	if a.is(convention.IntendedTime) {
		r.Intended = a.intended
	}
	if a.is(convention.ArrivalIndex) {
		r.Index = a.index
	}
	if a.is(convention.ResendCount) {
		r.Attempt = a.attempt
	}
	trace, parent := sp.s.TraceID(), sp.s.ParentSpanID()
	if a.is(convention.RequestID) {
		r.Key, r.Flags = hashBytes(a.requestID), sample.RequestKey
	} else if !parent.IsEmpty() {
		r.Key = hashSpan(trace[:], parent[:])
	}
	if a.is(convention.LastAttempt) && a.last {
		r.Flags |= sample.LastAttempt
	}
	if a.sampled || sampledState([]byte(sp.s.TraceState().AsRaw())) {
		r.Flags |= sample.Sampled
	}
	if a.is(convention.FirstByteSeconds) || a.is(convention.FirstByteMillis) {
		r.FirstByte = r.Sent + a.firstByte
	}
	if a.is(convention.OutputTokens) {
		r.Tokens = a.tokens
	}
	if sp.operation() {
		r.Flags |= sample.Operation
	}
	if sp.iterations {
		r.Flags |= sample.NoOutcome
	}
	o.outcome(sp, &a, &r)
	if r.FirstByte > r.Done {
		r.FirstByte = 0
	}
	f.Row = r
	o.rows = append(o.rows, f)
}

func (o *oracle) outcome(sp *oracleSpan, a *attributes, r *sample.Row) {
	ans := convention.Answer{Span: convention.SpanStatus(sp.s.Status().Code()), GRPC: -1, Message: []byte(sp.s.Status().Message())}
	if a.is(convention.HTTPStatusOld) {
		ans.HTTP = a.httpOld
	}
	if a.is(convention.HTTPStatus) {
		ans.HTTP = a.http
	}
	r.Status = int16(ans.HTTP)
	if a.is(convention.GRPCStatus) {
		ans.GRPC, r.Status = a.grpc, int16(a.grpc)
	}
	if a.is(convention.ErrorType) {
		ans.ErrorType = a.errorType
	}
	var sure bool
	r.Outcome, sure = o.table.Outcome(&ans)
	if r.Outcome == sample.Error && r.Status == 0 && (convention.Exhausted(ans.Message) || convention.Exhausted(ans.ErrorType)) {
		r.Flags |= sample.LocalLimit
	}
	for _, e := range sp.s.Events().All() {
		at := int64(e.Timestamp())
		switch {
		case convention.FirstByteEvent([]byte(e.Name())) && r.FirstByte == 0 && at >= r.Sent && at <= r.Done:
			r.FirstByte = at
		case !sure && e.Name() == "exception":
			for k, v := range e.Attributes().All() {
				if k != "exception.type" && k != "exception.message" || sure || v.Type() != pcommon.ValueTypeStr {
					continue
				}
				if convention.Exhausted([]byte(v.Str())) {
					r.Flags |= sample.LocalLimit
				}
				if got, ok := convention.Failure([]byte(v.Str())); ok {
					r.Outcome, sure = got, true
				}
			}
		}
	}
}

// name sets Self in the batches that need it.
func (o *oracle) name() {
	batchOf := func(f *flatRow) string {
		if f.Run != "" {
			return f.Run
		}
		return "\x01" + f.Group.Source
	}
	needs := map[string]bool{}
	i := 0
	var kept []*oracleSpan
	for _, sp := range o.spans {
		if !sp.counts() {
			continue
		}
		if i < len(o.rows) && o.rows[i].Row.Sent == int64(sp.s.StartTimestamp()) && o.rows[i].Row.Done == int64(sp.s.EndTimestamp()) {
			kept = append(kept, sp)
			if sp.isLoose || sp.nests || sp.operation() {
				needs[batchOf(&o.rows[i])] = true
			}
			i++
		}
	}
	for i, sp := range kept {
		if trace, id := sp.s.TraceID(), sp.s.SpanID(); needs[batchOf(&o.rows[i])] && !id.IsEmpty() {
			o.rows[i].Row.Self = hashSpan(trace[:], id[:])
		}
	}
}

// fill reads attributes from the full form.
func fill(t *convention.Table, a *attributes, m pcommon.Map) {
	for k, v := range m.All() {
		role := t.Attribute([]byte(k))
		if role == convention.NoAttribute {
			continue
		}
		var out value
		switch v.Type() {
		case pcommon.ValueTypeStr:
			out = value{kind: valueString, raw: []byte(v.Str())}
		case pcommon.ValueTypeInt:
			out = value{kind: valueInt, num: uint64(v.Int())}
		case pcommon.ValueTypeDouble:
			out = value{kind: valueDouble, num: math.Float64bits(v.Double())}
		case pcommon.ValueTypeBool:
			out = value{kind: valueBool}
			if v.Bool() {
				out.num = 1
			}
		case pcommon.ValueTypeBytes:
			out = value{kind: valueBytes, raw: v.Bytes().AsRaw()}
		case pcommon.ValueTypeMap:
			out = value{kind: valueMap}
		case pcommon.ValueTypeSlice:
			out = value{kind: valueArray}
		}
		if out.raw == nil && out.kind == valueString {
			out.raw = []byte{}
		}
		a.set(role, &out)
	}
	// The number of an id may live in the struct, which is copied later.
	a.requestID, a.id.PID = slices.Clone(a.requestID), slices.Clone(a.id.PID)
}

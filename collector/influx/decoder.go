package influx

import (
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// About is what the address of a request says about its body.
type About struct {
	Database string // db or bucket
	Run      string // id of the run of lines that name none
	Name     string // name of that run for people
	Sender   string // host that sent the request
	Unit     int64  // nanoseconds of one unit of time
	Now      int64  // time of lines without one
}

// Decoder turns bodies into batches. It is not safe for concurrent use; what it
// returns is valid until the next Decode.
type Decoder struct {
	table    *convention.Table
	ends     *ends
	line     line
	facts    facts
	intern   *intern
	targets  *targets
	about    About
	report   Report
	pending  pending
	counted  []tally
	untimed  bool
	tags     []pair
	name     []byte
	buf      []byte
	scenario []byte
}

// NewDecoder returns a decoder that understands names by the table.
func NewDecoder(table *convention.Table) *Decoder {
	return &Decoder{table: table, ends: endsOf(), intern: newIntern(), targets: newTargets()}
}

// Report says what became of the lines of the last body.
func (d *Decoder) Report() *Report { return &d.report }

// Untimed reports whether a line of the last body had no time of its own, so
// that the same body means something else when it comes again.
func (d *Decoder) Untimed() bool { return d.untimed }

// Decode reads a body. What cannot be read is in the report.
func (d *Decoder) Decode(body []byte, about *About) []*sample.Batch {
	d.about, d.untimed = *about, false
	d.targets.reset()
	d.report.reset()
	d.pending, d.counted = pending{}, d.counted[:0]
	for len(body) > 0 {
		var s []byte
		s, body = next(body)
		d.report.Lines++
		s, blank := comment(s)
		if blank {
			continue
		}
		if err := d.line.parse(d.ends, s); err != nil {
			d.report.refuse(Malformed, s, err)
			continue
		}
		if reason, err := d.take(); err != nil {
			d.report.refuse(reason, s, err)
		} else if reason >= Unknown {
			d.report.Counts[reason]++
		}
	}
	d.settle()
	d.flushTallies()
	return d.targets.Batches()
}

// Reasons that are not failures of the line.
const kept = Malformed // what take returns, without an error, for a line that was kept

// take understands the line that was parsed last.
func (d *Decoder) take() (Reason, error) {
	l := &d.line
	at := d.about.Now
	if l.timed {
		if l.at > math.MaxInt64/d.about.Unit || l.at < math.MinInt64/d.about.Unit {
			return BadTime, errTimeRange
		}
		at = l.at * d.about.Unit
	} else {
		d.untimed = true
	}
	role := d.recognise()
	if role == nothing || role == detail {
		return [...]Reason{nothing: Unknown, detail: Detail}[role], nil
	}
	if !plausible(at) {
		return BadTime, fmt.Errorf("time %d ns is before 2000 or after 2100: does the request name another precision than the lines have?", at)
	}
	if role < sameRequest {
		d.settle()
		d.facts.read(d.table, l)
	}
	return d.apply(role, at)
}

// apply does what a line of a role asks for.
func (d *Decoder) apply(role role, at int64) (Reason, error) {
	switch role {
	case jmeterSample:
		return d.jmeterSample(at)
	case jmeterTotals:
		return d.jmeterTotals(at)
	case jmeterThreads:
		return d.jmeterThreads(at)
	case fortioCall:
		return d.fortioCall(at)
	case k6Request, k6Call:
		return d.k6Request(at, role == k6Call)
	case k6Blocked, k6Receiving:
		d.k6Part(role, at)
		return kept, nil
	case k6Dropped:
		return d.count("k6", dropsName, "{request}", at)
	case k6Iteration:
		return d.k6Iteration(at)
	case k6Workers:
		return d.k6Workers(at)
	default:
		return d.mapped(at)
	}
}

// row adds a row to the batch of the facts.
func (d *Decoder) row(r *sample.Row, generator string) (Reason, error) {
	p, reason, ok := d.place(&d.facts, generator)
	if !ok {
		return reason, reason.explain()
	}
	d.addRow(r, p)
	return kept, nil
}

func (d *Decoder) addRow(r *sample.Row, p place) {
	r.Group = p.group
	p.to.Append(*r)
	d.report.Rows++
}

// fill completes a row by what the tags say of any generator.
func (d *Decoder) fill(r *sample.Row) {
	f := &d.facts
	if f.is(convention.IntendedTime) {
		r.Intended = f.intended
	}
	if f.is(convention.ArrivalIndex) {
		r.Index = f.index
	}
	if f.is(convention.ResendCount) {
		r.Attempt = f.attempt
	}
	if f.is(convention.RequestID) {
		r.Key = hash(f.request)
		r.Flags |= sample.RequestKey
	}
	if f.last {
		r.Flags |= sample.LastAttempt
	}
	if f.firstByte > 0 && f.firstByte <= r.Done-r.Sent {
		r.FirstByte = r.Sent + f.firstByte
	}
}

// point adds an observation of a metric of a generator to the batch of its run.
func (d *Decoder) point(s sample.Series, p sample.Point, generator string) (Reason, error) {
	at, reason, ok := d.place(&d.facts, generator)
	if !ok {
		return reason, reason.explain()
	}
	s.Source, s.Service = at.to.Groups[at.group].Source, generator
	at.to.AddPoint(&s, p)
	d.report.Points++
	return kept, nil
}

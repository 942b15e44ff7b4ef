package influx

import "github.com/plimsoll/plimsoll/analysis/sample"

// jmeterSample reads a line of JMeter's raw listener: one sample, stamped with
// its start, in milliseconds. The line says whether it succeeded and not why it
// did not.
func (d *Decoder) jmeterSample(at int64) (Reason, error) {
	l := &d.line
	took, ok := l.number("duration")
	if !ok || took < 0 {
		return Malformed, errNumber
	}
	if len(d.facts.scenario) == 0 {
		d.facts.scenario = l.tag("transaction")
	}
	r := sample.Row{Sent: at, Done: at + millis(took), Index: sample.NoIndex}
	if first, ok := l.number("ttfb"); ok && first > 0 && first <= took {
		r.FirstByte = at + millis(first)
	}
	if string(l.tag("status")) != "ok" {
		r.Outcome = sample.Error
	}
	d.fill(&r)
	return d.row(&r, "jmeter")
}

// jmeterTotals reads the sums of all samplers over one period of JMeter's
// standard listener. Its percentiles and its mean are over a sliding window of
// the last samples, not over the period, so nothing is made of them.
func (d *Decoder) jmeterTotals(at int64) (Reason, error) {
	for _, name := range [...]string{"jmeter.count", "jmeter.countError"} {
		n, ok := d.line.number(name[len("jmeter."):])
		if !ok || n < 0 {
			return Malformed, errNumber
		}
		s := sample.Series{Scope: "jmeter", Name: name, Kind: sample.DeltaSum}
		if reason, err := d.point(s, sample.Point{Time: at, Value: n}, "jmeter"); err != nil {
			return reason, err
		}
	}
	return kept, nil
}

// jmeterThreads reads how many threads were active.
func (d *Decoder) jmeterThreads(at int64) (Reason, error) {
	n, ok := d.line.number("maxAT")
	if !ok || n < 0 {
		return Malformed, errNumber
	}
	s := sample.Series{Scope: "jmeter", Name: "jmeter.maxAT", Kind: sample.Gauge}
	return d.point(s, sample.Point{Time: at, Value: n}, "jmeter")
}

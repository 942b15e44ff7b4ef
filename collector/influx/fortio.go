package influx

import "github.com/plimsoll/plimsoll/analysis/sample"

// fortioCall reads a line of fortio's access log: one call, stamped with its
// start, in seconds. The line has no number of the iteration, so nothing says
// when the call was due.
func (d *Decoder) fortioCall(at int64) (Reason, error) {
	took, ok := d.line.number("value")
	if !ok || took < 0 {
		return Malformed, errNumber
	}
	r := sample.Row{Sent: at, Done: at + seconds(took), Index: sample.NoIndex}
	code := status(d.detailOf("details"))
	r.Status = int16(code)
	if good, _ := boolean(d.line.tag("ok")); !good {
		r.Outcome = d.failure(code, d.detailOf("details"))
	}
	d.fill(&r)
	return d.row(&r, "fortio")
}

// detailOf returns a text field, nil when the line has none.
func (d *Decoder) detailOf(key string) []byte { return unquoted(d.line.field(key)) }

package importer

import (
	"slices"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// dropsName is the metric that counts arrivals that were due and never sent.
const dropsName = "loadtest.arrivals.dropped"

// dropsBin is how far apart drops may lie to be counted in one point: steps
// that begin within it are told apart less exactly.
const dropsBin = int64(100 * time.Millisecond)

// drops are arrivals that were dropped in one stream and not handed on yet.
type drops struct {
	group    sample.Group
	from, to int64
	n        float64
}

// Drop adds arrivals that were due at a time and never sent. N may be a
// fraction where a dropped arrival stands for several requests on average.
func (k *Sink) Drop(g *sample.Group, at int64, n float64) error {
	i := slices.IndexFunc(k.drops, func(d drops) bool { return d.group == *g })
	if i < 0 {
		i = len(k.drops)
		k.drops = append(k.drops, drops{group: *g})
	}
	d := &k.drops[i]
	k.report.drop(at, n)
	if d.n > 0 && (at-d.from > dropsBin || d.to-at > dropsBin) {
		if err := k.flushDrop(d); err != nil {
			return err
		}
	}
	if d.n == 0 {
		d.from, d.to = at, at
	}
	d.from, d.to, d.n = min(d.from, at), max(d.to, at), d.n+n
	return nil
}

func (k *Sink) flushDrop(d *drops) error {
	full := k.complete(d.group)
	s := sample.Series{
		Source: full.Source, Service: full.Generator, Scope: "plimsoll.import", Name: dropsName,
		Unit: "{request}", Kind: sample.DeltaSum,
	}
	if full.Scenario != "" {
		s.Attributes = pair("scenario", full.Scenario)
	}
	p := sample.Point{Start: d.from - 1, Time: d.to, Value: d.n}
	*d = drops{group: d.group}
	return k.Point(&s, p)
}

// flushDrops hands on all that is pending.
func (k *Sink) flushDrops() error {
	for i := range k.drops {
		if k.drops[i].n == 0 {
			continue
		}
		if err := k.flushDrop(&k.drops[i]); err != nil {
			return err
		}
	}
	return nil
}

// pair writes an attribute as sample.Series has it.
func pair(key, value string) string {
	return key + "=" + strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`).Replace(value)
}

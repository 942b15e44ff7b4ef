package importer

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// jtlSample is a sample of JMeter.
type jtlSample struct {
	at      int64 // ns; start, unless JMeter was told otherwise
	elapsed int64 // ns
	latency int64 // to the first byte, ns; 0 when not known
	thread  string
	threads int64 // that were active when it ended; 0 when not known
	success bool
	code    string
	message string
}

// Bounds of what is held to find out how JMeter was set up, and of threads that
// are remembered.
const (
	jtlHeld    = 4000
	jtlThreads = 100_000
	jtlIndexed = 20
)

// jtl turns samples into rows.
//
// An Open Model Thread Group makes one thread per arrival and numbers the
// threads in the order of the schedule, and the number ends the thread's name:
// with a rate it says when the first sample of the thread was due (grade B). All
// other thread groups are closed loops, whose timers wait until a thread is free.
type jtl struct {
	sink    *Sink
	held    []jtlSample
	decided bool
	ends    bool // time stamps are those of ends
	indexed bool

	groups map[string]*jtlGroup
	last   *jtlGroup
	spans  map[string]sample.Span // last sample of each thread
	outer  int64                  // samples of transactions left out

	second, threads int64 // the second at hand, and the most threads that were active in it
}

// jtlGroup is a thread group.
type jtlGroup struct {
	name  string
	group sample.Group
	rate  steady
	seen  []uint64 // threads whose first sample is known, a bit each
}

func newJTL(sink *Sink) *jtl {
	return &jtl{sink: sink, groups: map[string]*jtlGroup{}, spans: map[string]sample.Span{}}
}

// jtlThread divides the name of a thread into group and number: "Users 1-57" is
// number 57 of "Users 1".
func jtlThread(name string) (group string, number int64) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || i == 0 || name[i-1] != '-' || len(name)-i > 9 {
		return name, 0
	}
	return name[:i-1], int64(small([]byte(name[i:])))
}

func (j *jtl) add(s *jtlSample) error {
	if j.decided {
		return j.row(s)
	}
	j.held = append(j.held, *s)
	if len(j.held) >= jtlHeld || len(j.held) >= jtlHeld/10 && s.at-j.held[0].at > lookFor {
		return j.decide()
	}
	return nil
}

func (j *jtl) close() error {
	if !j.decided {
		if err := j.decide(); err != nil {
			return err
		}
	}
	if err := j.active(math.MaxInt64, 0); err != nil {
		return err
	}
	if j.outer > 0 {
		j.sink.Warn("%d samples of Transaction Controllers are left out: their parts are in the file", j.outer)
	}
	return nil
}

func (j *jtl) decide() error {
	j.decided = true
	j.ends = jtlEnds(j.held)
	j.indexed = jtlArrivals(j.held)
	if j.ends {
		j.sink.Warn("time stamps are those of ends (sampleresult.timestamp.start=false): starts are counted back by the elapsed time")
	}
	switch {
	case j.indexed:
		j.rates()
	case j.sink.Scheduled:
	default:
		j.sink.Warn("threads are used again and again: a closed loop, which sends less when the service is slow, and nothing counts what was not sent")
		j.sink.Advise("an Open Model Thread Group keeps to its schedule and numbers its threads by it")
	}
	for i := range j.held {
		if err := j.row(&j.held[i]); err != nil {
			return err
		}
	}
	j.held = nil
	return nil
}

// rates looks for the rate of each thread group that numbers its arrivals.
func (j *jtl) rates() {
	first := map[string]map[int64]int64{}
	for i := range j.held {
		s := &j.held[i]
		name, n := jtlThread(s.thread)
		if first[name] == nil {
			first[name] = map[int64]int64{}
		}
		at := j.start(s)
		if v, ok := first[name][n]; !ok || at < v {
			first[name][n] = at
		}
	}
	for _, name := range slices.Sorted(maps.Keys(first)) {
		var sends []send
		for n, at := range first[name] {
			sends = append(sends, send{n - 1, at})
		}
		g := j.groupOf(name)
		rate := g.rate.find(sends)
		switch {
		case j.sink.Scheduled:
			g.rate = steady{}
		case rate > 0:
			g.group.Rate, g.group.Process = rate, "constant"
			j.sink.Warn("thread group %s: arrivals at %.6g/s, as the first threads have it: they were due by it and the number of their thread", name, rate)
		default:
			j.sink.Warn("thread group %s: its threads follow no constant rate: times are counted from the send", name)
			j.sink.Advise(adviseSchedule)
		}
	}
}

func (j *jtl) start(s *jtlSample) int64 {
	if j.ends {
		return s.at - s.elapsed
	}
	return s.at
}

func (j *jtl) groupOf(name string) *jtlGroup {
	if j.last != nil && j.last.name == name {
		return j.last
	}
	g := j.groups[name]
	if g == nil {
		g = &jtlGroup{name: name, group: sample.Group{Generator: "jmeter", Scenario: name, Model: sample.Closed}}
		switch {
		case j.indexed:
			g.group.Model = sample.Open
		case j.sink.Scheduled:
			g.group.Model = sample.UnknownModel
		}
		j.groups[name] = g
	}
	j.last = g
	return g
}

func (j *jtl) row(s *jtlSample) error {
	at := j.start(s)
	if strings.HasPrefix(s.message, "Number of samples in transaction") {
		if part, ok := j.spans[s.thread]; ok && part.From >= at && part.To <= at+s.elapsed+2e6 {
			j.outer++
			return nil
		}
	}
	if len(j.spans) > jtlThreads {
		clear(j.spans)
	}
	j.spans[s.thread] = sample.Span{From: at, To: at + s.elapsed}
	if err := j.active((at+s.elapsed)/1e9, s.threads); err != nil {
		return err
	}
	name, number := jtlThread(s.thread)
	g := j.groupOf(name)
	row := sample.Row{Sent: at, Done: at + s.elapsed, Index: sample.NoIndex, Outcome: s.outcome(), Status: statusOf(int64(small([]byte(s.code))))}
	if s.latency > 0 && s.latency <= s.elapsed && s.success {
		row.FirstByte = at + s.latency
	}
	group := g.group
	if j.indexed && number > 0 {
		if g.first(number) {
			row.Index = number - 1
			if g.rate.left(send{row.Index, at}) {
				g.group = unrated(g.group)
				group = g.group
				j.sink.Warn("thread group %s: from thread %d on arrivals leave the rate of the first ones: times are counted from the send there", name, number)
				j.sink.Advise(adviseSchedule)
			}
		} else {
			row.Flags = sample.StartIsDue // the script came to it then
			group = unrated(group)
		}
	}
	return j.sink.Row(&group, &row)
}

// active tells how many threads there are, second by second, where they are the
// users of a closed loop.
func (j *jtl) active(second, threads int64) error {
	if second > j.second {
		if j.threads > 0 && !j.indexed {
			s := sample.Series{Service: "jmeter", Scope: "jmeter", Name: "jmeter.maxAT", Kind: sample.Gauge}
			if err := j.sink.Point(&s, sample.Point{Time: (j.second + 1) * 1e9, Value: float64(j.threads)}); err != nil {
				return err
			}
		}
		j.second, j.threads = second, 0
	}
	j.threads = max(j.threads, threads)
	return nil
}

// first reports, once, that a thread is seen for the first time.
func (g *jtlGroup) first(number int64) bool {
	const most = 1 << 28
	i := number / 64
	if number > most {
		return false
	}
	for int64(len(g.seen)) <= i {
		g.seen = append(g.seen, 0)
	}
	bit := uint64(1) << (number % 64)
	was := g.seen[i]&bit != 0
	g.seen[i] |= bit
	return !was
}

// outcome is as JMeter has it, assertions included; the code says how a sample
// failed.
func (s *jtlSample) outcome() sample.Outcome {
	if s.success {
		return sample.OK
	}
	if code := small([]byte(s.code)); code >= 400 {
		return answered(int64(code))
	}
	if o := failedWith([]byte(s.code)); o != sample.Error {
		return o
	}
	return failedWith([]byte(s.message))
}

// jtlArrivals reports whether each thread is one arrival: none of those that are
// seen first is still there at the end.
func jtlArrivals(samples []jtlSample) bool {
	early, late := map[string]bool{}, map[string]bool{}
	for i := range samples {
		if _, n := jtlThread(samples[i].thread); n == 0 {
			return false
		}
		switch {
		case i < len(samples)/4:
			early[samples[i].thread] = true
		case i >= len(samples)-len(samples)/4:
			if early[samples[i].thread] {
				return false
			}
			late[samples[i].thread] = true
		}
	}
	return len(early)+len(late) >= jtlIndexed
}

// jtlEnds reports whether time stamps are those of ends: within a thread the
// next sample starts after the one before has ended.
func jtlEnds(samples []jtlSample) bool {
	last := map[string]*jtlSample{}
	var n, starts, ends int
	for i := range samples {
		s := &samples[i]
		if p := last[s.thread]; p != nil {
			n++
			if s.at < p.at+p.elapsed-1e6 {
				starts++
			}
			if s.at-s.elapsed < p.at-1e6 {
				ends++
			}
		}
		last[s.thread] = s
	}
	return n >= jtlIndexed && 10*starts > n && 100*ends < n
}

package influx

import (
	"bytes"
	"math"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// facts is what the tags and mapped fields of one line say about the load test,
// not copied. A fact is known only if its bit in has is set.
type facts struct {
	has uint64 // one bit for each convention.Attribute

	run, runName, scenario, generator, step, process, request []byte
	errorType, service, instance, host                        []byte
	runRank                                                   int // which name of the run id was believed

	model              sample.Model
	http, grpc         int
	intended, index    int64
	deadline, interval int64
	firstByte          int64
	rate               float64
	attempt            uint16
	last               bool
}

func bit(a convention.Attribute) uint64 { return 1 << a }

func (f *facts) is(a convention.Attribute) bool { return f.has&bit(a) != 0 }

// Ranks of the names of a run id, best first; 0 is none.
const (
	rankOwn   = 1 // loadtest.run.id, or mapped to it
	rankAlias = 2 // the aliases that telemetry uses too
	rankTool  = 10
	rankURL   = 20
)

// read collects what the tags say, and the fields that a mapping file names.
func (f *facts) read(t *convention.Table, l *line) {
	*f = facts{grpc: -1}
	for i := range l.tags {
		f.see(t, &l.tags[i])
	}
	for i := range l.fields {
		if p := &l.fields[i]; t.Likely(p.key) {
			f.see(t, &pair{p.key, unquoted(p.value)})
		}
	}
}

func unquoted(v []byte) []byte {
	if len(v) >= 2 && v[0] == '"' {
		v = v[1 : len(v)-1]
		if bytes.IndexByte(v, '\\') >= 0 {
			return []byte(text(append(append([]byte{'"'}, v...), '"')))
		}
	}
	return v
}

func (f *facts) see(t *convention.Table, p *pair) {
	if role := t.Attribute(p.key); role != convention.NoAttribute {
		f.set(role, p.value)
		return
	}
	switch string(p.key) {
	case "run", "run_id", "runid", "runId":
		f.named(rankTool, p.value)
	case "scenario":
		f.scenario = p.value
		f.has |= bit(convention.Scenario)
	case "application":
		f.runName = p.value
		f.has |= bit(convention.RunName)
	case "host", "hostname":
		f.host = p.value
	case "instance":
		f.instance = p.value
	case "service":
		f.service = p.value
	}
}

// named notes a run id, unless a better name for it was seen.
func (f *facts) named(rank int, id []byte) {
	if len(id) > 0 && (f.runRank == 0 || rank < f.runRank) {
		f.run, f.runRank = id, rank
	}
}

// set notes one fact. Values that cannot be what the name says are as if they
// had not been sent.
func (f *facts) set(role convention.Attribute, v []byte) {
	ok := len(v) > 0
	switch role {
	case convention.RunID:
		f.named(rankOwn, v)
	case convention.RunAliasTestID, convention.RunAliasTestid, convention.RunAliasTestRunID, convention.RunAliasRunID:
		f.named(rankAlias+int(role-convention.RunAliasTestID), v)
	case convention.RunName:
		f.runName = v
	case convention.Scenario:
		f.scenario = v
	case convention.Generator:
		f.generator = v
	case convention.Step:
		f.step = v
	case convention.ArrivalProcess:
		f.process = v
	case convention.RequestID:
		f.request = v
	case convention.ErrorType:
		f.errorType = v
	case convention.ServiceName:
		f.service = v
	case convention.ServiceInstance:
		f.instance = v
	case convention.HostName:
		f.host = v
	case convention.LastAttempt:
		f.last, ok = boolean(v)
	case convention.ArrivalModel:
		f.model, ok = modelOf(v)
	default:
		ok = f.setNumber(role, v)
	}
	if ok {
		f.has |= bit(role)
	}
}

func modelOf(v []byte) (sample.Model, bool) {
	switch string(v) {
	case "open":
		return sample.Open, true
	case "closed":
		return sample.Closed, true
	}
	return sample.UnknownModel, false
}

// setNumber notes facts that are numbers.
func (f *facts) setNumber(role convention.Attribute, v []byte) (ok bool) {
	switch role {
	case convention.IntendedTime:
		f.intended, ok = integer(bytes.TrimSuffix(v, []byte{'i'}))
		return ok && plausible(f.intended)
	case convention.ArrivalIndex:
		f.index, ok = integer(bytes.TrimSuffix(v, []byte{'i'}))
		return ok && f.index >= 0
	}
	n, ok := number(v)
	if !ok || n < 0 {
		return false
	}
	switch role {
	case convention.HTTPStatus, convention.HTTPStatusOld:
		f.http = int(min(n, 999))
	case convention.GRPCStatus, convention.RPCStatus:
		f.grpc = int(min(n, 999))
	case convention.ResendCount:
		f.attempt = uint16(min(n, math.MaxUint16))
	case convention.Deadline:
		f.deadline = seconds(n)
	case convention.ExpectedInterval:
		f.interval = seconds(n)
	case convention.FirstByteSeconds:
		f.firstByte = seconds(n)
	case convention.FirstByteMillis:
		f.firstByte = millis(n)
	case convention.ArrivalRate:
		f.rate = n
	default:
		return false
	}
	return true
}

// longest bounds every duration, so that sums of times cannot overflow.
const longest = float64(1e18)

func seconds(v float64) int64 { return int64(math.Round(min(v*1e9, longest))) }

func millis(v float64) int64 { return int64(math.Round(min(v*1e6, longest))) }

// plausible reports whether a time lies within the years that a load test can
// have happened in.
func plausible(ns int64) bool { return ns >= 946_684_800e9 && ns < 4_102_444_800e9 }

// status reads an HTTP status or a gRPC code; 0 when v is no number.
func status(v []byte) int {
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 0 || n > 999 {
		return 0
	}
	return n
}

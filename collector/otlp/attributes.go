package otlp

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// attributes is what the attributes of a resource or span said, not copied.
// A field means something only if its bit in has is set, so that clearing has
// clears all.
type attributes struct {
	has uint64 // one bit for each convention.Attribute

	runID, runName, alias     []byte
	scenario, generator, step []byte
	process, requestID        []byte
	errorType                 []byte
	model                     sample.Model
	last, sampled             bool
	badIntended               bool
	attempt                   uint16
	aliasRank                 convention.Attribute
	http, httpOld, grpc       int
	intended, index           int64
	deadline, interval        int64
	firstByte                 int64 // after sending
	tokens                    int64
	queued, served            float64 // seconds, by a server
	rate                      float64

	id     convention.Identity // resources only
	recent recent
	number [20]byte // memory of an id that was sent as a number
}

func bit(a convention.Attribute) uint64 { return 1 << a }

func (a *attributes) is(r convention.Attribute) bool { return a.has&bit(r) != 0 }

// Sets of attributes.
const (
	aliasBit  = 1 << convention.RunAliasTestID // stands for all aliases
	groupBits = 1<<convention.Scenario | 1<<convention.Generator | 1<<convention.Step |
		1<<convention.Deadline | 1<<convention.ExpectedInterval | 1<<convention.ArrivalModel |
		1<<convention.ArrivalProcess | 1<<convention.ArrivalRate
	runBits     = 1<<convention.RunID | 1<<convention.RunName | aliasBit
	inheritBits = groupBits | runBits | 1<<convention.IntendedTime | 1<<convention.ArrivalIndex |
		1<<convention.RequestID
	serverBits = 1<<convention.QueueSeconds | 1<<convention.ServerSeconds
)

func (a *attributes) reset() {
	a.has, a.sampled, a.badIntended = 0, false, false
	a.recent.next = 0
}

// recent remembers the keys that meant something the last time: spans carry the
// same attributes in the same order, so the next key is nearly always known.
type recent struct {
	next int
	keys [8]struct {
		key  []byte
		role convention.Attribute
	}
}

// longKey is the longest key that is remembered; names that mean something are
// shorter.
const longKey = 64

// role returns what a key means.
func (r *recent) role(t *convention.Table, key []byte) convention.Attribute {
	if !t.Likely(key) {
		return convention.NoAttribute
	}
	if r.next == len(r.keys) || len(key) > longKey {
		return t.Attribute(key)
	}
	k := &r.keys[r.next]
	r.next++
	if !bytes.Equal(k.key, key) {
		k.key, k.role = append(k.key[:0], key...), t.Attribute(key)
	}
	return k.role
}

// usual reads the attributes at the start of b that have the form that nearly
// all have, a short key and then a short value, and returns their length. As a
// field of a span or resource each begins with tag.
func (a *attributes) usual(t *convention.Table, b []byte, tag uint64) (int, error) {
	const lengths, keyTag, valueTag = 0x80<<8 | 0x80<<24, 1<<3 | wireLen, 2<<3 | wireLen
	at := 0
	for len(b)-at >= 8 {
		// One load holds the tag, the length, the tag of the key and its length.
		w := binary.LittleEndian.Uint64(b[at:])
		if w&(0xff00ff|lengths) != tag|keyTag<<16 {
			break
		}
		end, val := at+2+int(w>>8&0x7f), at+4+int(w>>24&0x7f)
		if end > len(b) || val+2 > end || binary.LittleEndian.Uint16(b[val:]) != valueTag|uint16(end-val-2)<<8 {
			break
		}
		if role := a.recent.role(t, b[at+4:val]); role != convention.NoAttribute {
			var v value
			if err := v.merge(b[val+2 : end]); err != nil {
				return 0, err
			}
			a.set(role, &v)
		}
		at = end
	}
	return at, nil
}

// add reads one encoded attribute of any form.
func (a *attributes) add(t *convention.Table, b []byte) error {
	var kv keyValue
	if err := kv.parse(b); err != nil {
		return err
	}
	role := t.Attribute(kv.key)
	if role == convention.NoAttribute {
		return nil
	}
	var v value
	if err := kv.value(&v); err != nil {
		return err
	}
	a.set(role, &v)
	return nil
}

// set keeps one attribute. Values that cannot be what the name says are as if
// they had not been sent.
func (a *attributes) set(role convention.Attribute, v *value) {
	var ok bool
	switch role {
	case convention.Scenario:
		a.scenario, ok = v.text(), v.kind == valueString
	case convention.IntendedTime:
		a.intended, ok = v.int()
		if !ok || !plausible(a.intended) {
			a.badIntended, ok = true, false
		}
	case convention.HTTPStatus:
		a.http, ok = statusCode(v)
	case convention.HTTPStatusOld:
		a.httpOld, ok = statusCode(v)
	case convention.RunID:
		a.runID = v.text()
		ok = len(a.runID) > 0
	case convention.RunName:
		a.runName = v.text()
		ok = len(a.runName) > 0
	case convention.RunAliasTestID, convention.RunAliasTestid, convention.RunAliasTestRunID, convention.RunAliasRunID:
		if len(v.text()) > 0 && (a.has&aliasBit == 0 || role <= a.aliasRank) {
			a.alias, a.aliasRank = v.text(), role
			a.has |= aliasBit
		}
		return
	case convention.ErrorType:
		a.errorType = v.text()
		ok = len(a.errorType) > 0
	case convention.RequestID:
		a.requestID = v.text()
		if v.kind == valueInt {
			a.requestID = v.appendText(a.number[:0], len(a.number))
		}
		ok = len(a.requestID) > 0
	case convention.ArrivalIndex:
		a.index, ok = v.int()
		ok = ok && a.index >= 0
	default:
		ok = a.setRare(role, v)
	}
	if ok {
		a.has |= bit(role)
	} else {
		a.has &^= bit(role)
	}
}

// setRare is set for attributes that hardly any span carries.
func (a *attributes) setRare(role convention.Attribute, v *value) (ok bool) {
	switch role {
	case convention.Generator:
		a.generator = v.text()
		return len(a.generator) > 0
	case convention.Step:
		a.step = v.text()
		return len(a.step) > 0
	case convention.ArrivalProcess:
		a.process = v.text()
		return len(a.process) > 0
	case convention.ArrivalModel:
		switch {
		case bytes.EqualFold(v.text(), []byte("open")):
			a.model = sample.Open
		case bytes.EqualFold(v.text(), []byte("closed")):
			a.model = sample.Closed
		default:
			return false
		}
		return true
	case convention.ArrivalRate:
		a.rate, ok = v.float()
		return ok && a.rate > 0
	case convention.Deadline:
		a.deadline, ok = seconds(v)
		return ok && a.deadline > 0
	case convention.ExpectedInterval:
		a.interval, ok = seconds(v)
		return ok && a.interval > 0
	case convention.ResendCount:
		n, isInt := v.int()
		a.attempt = uint16(min(max(n, 0), math.MaxUint16))
		return isInt
	case convention.LastAttempt:
		a.last = v.bool()
		return true
	case convention.GRPCStatus, convention.RPCStatus:
		return a.setGRPC(v)
	case convention.FirstByteSeconds:
		a.firstByte, ok = seconds(v)
		return ok
	case convention.FirstByteMillis:
		ms, isNumber := v.float()
		a.firstByte = int64(ms * 1e6)
		return isNumber && ms >= 0 && ms < 1e9
	case convention.OutputTokens:
		n, isInt := v.int()
		a.tokens = n
		return isInt && n > 0 && n <= maxTokens
	case convention.ModelOperation:
		return len(v.text()) > 0
	case convention.QueueSeconds:
		a.queued, ok = v.float()
		return ok && a.queued >= 0 && a.queued < 1e7
	case convention.ServerSeconds:
		a.served, ok = v.float()
		return ok && a.served >= 0 && a.served < 1e7
	case convention.SampleRate:
		n, isNumber := v.float()
		a.sampled = a.sampled || isNumber && n > 1
		return isNumber
	case convention.SampleRatio:
		n, isNumber := v.float()
		a.sampled = a.sampled || isNumber && n < 1
		return isNumber
	}
	return a.setIdentity(role, v)
}

func (a *attributes) setGRPC(v *value) bool {
	code := convention.GRPCCode(v.text())
	if n, isInt := v.int(); isInt && n >= 0 && n <= 16 {
		code = int(n)
	}
	if code < 0 {
		return false
	}
	a.grpc = code
	a.has |= bit(convention.GRPCStatus)
	return true
}

func (a *attributes) setIdentity(role convention.Attribute, v *value) bool {
	switch role {
	case convention.ServiceName:
		a.id.Name = v.text()
	case convention.ServiceNamespace:
		a.id.Namespace = v.text()
	case convention.ServiceInstance:
		a.id.Instance = v.text()
	case convention.HostName:
		a.id.Host = v.text()
	case convention.ProcessPID:
		if v.kind == valueInt || v.kind == valueString && len(v.raw) <= len(a.number) {
			a.id.PID = v.appendText(a.number[:0], len(a.number))
		}
	default:
		return false
	}
	return true
}

// run returns the run that the attributes of a span and its resource name:
// loadtest.run.id before foreign names, and the span's before the resource's.
func runOf(span, resource *attributes) []byte {
	switch {
	case span.is(convention.RunID):
		return span.runID
	case resource.is(convention.RunID):
		return resource.runID
	case span.has&aliasBit != 0:
		return span.alias
	case resource.has&aliasBit != 0:
		return resource.alias
	}
	return nil
}

// inherit takes over from an outer client span what the inner one lacks.
func (a *attributes) inherit(outer *attributes) {
	lacks := outer.has & inheritBits &^ a.has
	if lacks == 0 {
		return
	}
	take := func(role convention.Attribute) bool { return lacks&bit(role) != 0 }
	if take(convention.RunID) {
		a.runID = outer.runID
	}
	if take(convention.RunName) {
		a.runName = outer.runName
	}
	if lacks&aliasBit != 0 {
		a.alias, a.aliasRank = outer.alias, outer.aliasRank
	}
	if take(convention.Scenario) {
		a.scenario = outer.scenario
	}
	if take(convention.Generator) {
		a.generator = outer.generator
	}
	if take(convention.Step) {
		a.step = outer.step
	}
	if take(convention.Deadline) {
		a.deadline = outer.deadline
	}
	if take(convention.ExpectedInterval) {
		a.interval = outer.interval
	}
	if take(convention.ArrivalModel) {
		a.model = outer.model
	}
	if take(convention.ArrivalProcess) {
		a.process = outer.process
	}
	if take(convention.ArrivalRate) {
		a.rate = outer.rate
	}
	if take(convention.IntendedTime) {
		a.intended = outer.intended
	}
	if take(convention.ArrivalIndex) {
		a.index = outer.index
	}
	if take(convention.RequestID) {
		a.requestID = outer.requestID
	}
	a.has |= lacks
}

// maxTokens is more than any answer has.
const maxTokens = 1 << 32

func statusCode(v *value) (int, bool) {
	n, ok := v.int()
	return int(n), ok && n >= 100 && n < 1000
}

// seconds returns a duration in nanoseconds that was sent in seconds.
func seconds(v *value) (int64, bool) {
	s, ok := v.float()
	if !ok || s < 0 || s > 1e7 {
		return 0, false
	}
	return int64(math.Round(s * 1e9)), true
}

// Times before 2000 and after 2100 cannot be real.
const (
	minTime = 946684800_000000000
	maxTime = 4102444800_000000000
)

func plausible(t int64) bool { return t >= minTime && t < maxTime }

// hashBytes is a hash that is never 0.
func hashBytes(b []byte) uint64 { return max(xxh3.Hash(b), 1) }

// hashSpan names a span by its ids.
func hashSpan(trace, span []byte) uint64 {
	var ids [24]byte
	copy(ids[:16], trace)
	copy(ids[16:], span)
	return hashBytes(ids[:])
}

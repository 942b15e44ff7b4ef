package otlp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
)

// encoder writes protobuf for tests, field by field.
type encoder struct{ b []byte }

func (e *encoder) tag(num, wire int) *encoder {
	e.b = binary.AppendUvarint(e.b, uint64(num)<<3|uint64(wire))
	return e
}

func (e *encoder) bytes(num int, v []byte) *encoder {
	e.tag(num, wireLen)
	e.b = append(binary.AppendUvarint(e.b, uint64(len(v))), v...)
	return e
}

func (e *encoder) str(num int, v string) *encoder { return e.bytes(num, []byte(v)) }

func (e *encoder) varint(num int, v uint64) *encoder {
	e.tag(num, wireVarint)
	e.b = binary.AppendUvarint(e.b, v)
	return e
}

func (e *encoder) fixed(num int, v uint64) *encoder {
	e.tag(num, wireI64)
	e.b = binary.LittleEndian.AppendUint64(e.b, v)
	return e
}

// msg writes a nested message.
func (e *encoder) msg(num int, fn func(e *encoder)) *encoder {
	var inner encoder
	fn(&inner)
	return e.bytes(num, inner.b)
}

// attr writes an attribute whose value is a string, int, float64 or bool.
func (e *encoder) attr(num int, key string, v any) *encoder {
	return e.msg(num, func(e *encoder) {
		e.str(1, key)
		e.msg(2, func(e *encoder) {
			switch v := v.(type) {
			case string:
				e.str(1, v)
			case int:
				e.varint(3, uint64(v))
			case int64:
				e.varint(3, uint64(v))
			case float64:
				e.fixed(4, f64(v))
			case bool:
				e.varint(2, map[bool]uint64{true: 1}[v])
			default:
				panic(fmt.Sprintf("no encoding for %T", v))
			}
		})
	})
}

// testSpan describes a span for tests. Zero fields are left out.
type testSpan struct {
	trace, id, parent string // hexadecimal
	state, name       string
	kind              int
	start, end        int64
	attrs             []any // key, value, key, value, …
	status            int
	message           string
	event             string         // name of an event
	eventAt           int64          //
	eventAttrs        []any          //
	raw               func(*encoder) // more fields
}

func id(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func (s *testSpan) encode(e *encoder) {
	if s.trace != "" {
		e.bytes(1, id(s.trace))
	}
	if s.id != "" {
		e.bytes(2, id(s.id))
	}
	if s.state != "" {
		e.str(3, s.state)
	}
	if s.parent != "" {
		e.bytes(4, id(s.parent))
	}
	if s.name != "" {
		e.str(5, s.name)
	}
	if s.kind != 0 {
		e.varint(6, uint64(s.kind))
	}
	if s.start != 0 {
		e.fixed(7, uint64(s.start))
	}
	if s.end != 0 {
		e.fixed(8, uint64(s.end))
	}
	for i := 0; i < len(s.attrs); i += 2 {
		e.attr(9, s.attrs[i].(string), s.attrs[i+1])
	}
	if s.event != "" {
		e.msg(11, func(e *encoder) {
			e.fixed(1, uint64(s.eventAt)).str(2, s.event)
			for i := 0; i < len(s.eventAttrs); i += 2 {
				e.attr(3, s.eventAttrs[i].(string), s.eventAttrs[i+1])
			}
		})
	}
	if s.status != 0 || s.message != "" {
		e.msg(15, func(e *encoder) {
			if s.message != "" {
				e.str(2, s.message)
			}
			e.varint(3, uint64(s.status))
		})
	}
	if s.raw != nil {
		s.raw(e)
	}
}

// request encodes spans of one resource and scope.
func request(resource []any, scope string, spans ...testSpan) []byte {
	var e encoder
	e.msg(1, func(e *encoder) { resourceSpans(e, resource, scope, spans) })
	return e.b
}

func resourceSpans(e *encoder, resource []any, scope string, spans []testSpan) {
	e.msg(1, func(e *encoder) {
		for i := 0; i < len(resource); i += 2 {
			e.attr(1, resource[i].(string), resource[i+1])
		}
	})
	e.msg(2, func(e *encoder) {
		e.msg(1, func(e *encoder) { e.str(1, scope) })
		for i := range spans {
			e.msg(2, spans[i].encode)
		}
	})
}

// base is a time that is plausible.
const base = int64(1_800_000_000_000_000_000)

// sdkRequest is a request as the Go SDK sends it for n instrumented HTTP calls.
func sdkRequest(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	scenarios := []string{"browse", "checkout", "search", "account"}
	var e encoder
	e.msg(1, func(e *encoder) {
		e.msg(1, func(e *encoder) {
			e.attr(1, "host.name", "loadgen-00").attr(1, "loadtest.run.id", "7b0b1c9e-3b51-4a51-9c1a-000000000001")
			e.attr(1, "process.pid", 18755).attr(1, "service.name", "checkout-load").attr(1, "telemetry.sdk.language", "go")
			e.attr(1, "telemetry.sdk.name", "opentelemetry").attr(1, "telemetry.sdk.version", "1.47.0")
		})
		e.msg(2, func(e *encoder) {
			e.msg(1, func(e *encoder) {
				e.str(1, "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp").str(2, "0.72.0")
			})
			for i := range n {
				e.msg(2, func(e *encoder) { sdkSpan(e, r, scenarios[r.IntN(4)], base+int64(i)*1e6) })
			}
		})
		e.str(3, "https://opentelemetry.io/schemas/1.43.0")
	})
	return e.b
}

func sdkSpan(e *encoder, r *rand.Rand, scenario string, intended int64) {
	var ids [24]byte
	for i := range ids {
		ids[i] = byte(r.Uint32())
	}
	start := intended + int64(r.IntN(100_000))
	status := 200
	if r.IntN(100) == 0 {
		status = 503
	}
	e.bytes(1, ids[:16]).bytes(2, ids[16:]).str(5, "HTTP GET").varint(6, 3)
	e.fixed(7, uint64(start)).fixed(8, uint64(start+25e6+int64(r.IntN(1e6))))
	e.attr(9, "loadtest.scenario", scenario).attr(9, "loadtest.intended_time_unix_nano", intended)
	e.attr(9, "http.request.method", "GET").attr(9, "url.full", fmt.Sprintf("https://shop.staging.example.com/api/v1/items/%d", r.IntN(100000)))
	e.attr(9, "server.address", "shop.staging.example.com").attr(9, "server.port", 443)
	e.attr(9, "network.protocol.version", "2").attr(9, "http.response.status_code", status)
	if status >= 400 {
		e.attr(9, "error.type", fmt.Sprint(status))
		e.msg(15, func(e *encoder) { e.varint(3, 2) })
	} else {
		e.msg(15, func(*encoder) {})
	}
	e.tag(16, wireI32)
	e.b = binary.LittleEndian.AppendUint32(e.b, 0x101)
}

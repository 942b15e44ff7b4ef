package otlp

// fieldKind is how a JSON value becomes a protobuf field.
type fieldKind uint8

const (
	asMessage fieldKind = iota
	asString
	asBase64
	asHex
	asBool
	asUnsigned // varint
	asSigned   // varint
	asZigzag   // sint32
	asFixed    // unsigned 64 bits
	asSfixed   // signed 64 bits
	asDouble
	asEnum
)

// field tells the number and kind of a JSON field. A repeated field is an array
// of its kind.
type field struct {
	num      uint32
	kind     fieldKind
	repeated bool
	message  *message
	names    map[string]uint64 // of an enum
}

// message lists the fields of a message that the decoder reads, by their JSON
// names. Other fields are passed over.
type message map[string]field

// schemas are the messages of the two requests.
type schemas struct{ traces, metrics *message }

func newSchemas() *schemas {
	kv := keyValueSchema()
	attributes := field{kind: asMessage, repeated: true, message: kv}
	at := func(num uint32, f field) field { f.num = num; return f }
	resource := &message{"attributes": at(1, attributes)}
	scope := &message{"name": {num: 1, kind: asString}}
	request := func(resources, scopes, items string, item *message) *message {
		inner := &message{
			"scope": {num: 1, message: scope},
			items:   {num: 2, repeated: true, message: item},
		}
		outer := &message{
			"resource": {num: 1, message: resource},
			scopes:     {num: 2, repeated: true, message: inner},
		}
		return camelAndSnake(&message{resources: {num: 1, repeated: true, message: outer}}, map[*message]bool{})
	}
	return &schemas{
		traces:  request("resourceSpans", "scopeSpans", "spans", spanSchema(attributes)),
		metrics: request("resourceMetrics", "scopeMetrics", "metrics", metricSchema(attributes)),
	}
}

// keyValueSchema is recursive, as values may hold values.
func keyValueSchema() *message {
	kv, value := &message{}, &message{}
	(*kv)["key"] = field{num: 1, kind: asString}
	(*kv)["value"] = field{num: 2, message: value}
	*value = message{
		"stringValue": {num: 1, kind: asString},
		"boolValue":   {num: 2, kind: asBool},
		"intValue":    {num: 3, kind: asSigned},
		"doubleValue": {num: 4, kind: asDouble},
		"arrayValue":  {num: 5, message: &message{"values": {num: 1, repeated: true, message: value}}},
		"kvlistValue": {num: 6, message: &message{"values": {num: 1, repeated: true, message: kv}}},
		"bytesValue":  {num: 7, kind: asBase64},
	}
	return kv
}

func spanSchema(attributes field) *message {
	at := func(num uint32) field { f := attributes; f.num = num; return f }
	event := &message{
		"timeUnixNano": {num: 1, kind: asFixed},
		"name":         {num: 2, kind: asString},
		"attributes":   at(3),
	}
	status := &message{
		"message": {num: 2, kind: asString},
		"code": {num: 3, kind: asEnum, names: map[string]uint64{
			"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2,
		}},
	}
	return &message{
		"traceId":      {num: 1, kind: asHex},
		"spanId":       {num: 2, kind: asHex},
		"traceState":   {num: 3, kind: asString},
		"parentSpanId": {num: 4, kind: asHex},
		"name":         {num: 5, kind: asString},
		"kind": {num: 6, kind: asEnum, names: map[string]uint64{
			"SPAN_KIND_UNSPECIFIED": 0, "SPAN_KIND_INTERNAL": 1, "SPAN_KIND_SERVER": 2,
			"SPAN_KIND_CLIENT": 3, "SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5,
		}},
		"startTimeUnixNano": {num: 7, kind: asFixed},
		"endTimeUnixNano":   {num: 8, kind: asFixed},
		"attributes":        at(9),
		"events":            {num: 11, repeated: true, message: event},
		"status":            {num: 15, message: status},
	}
}

func metricSchema(attributes field) *message {
	at := func(num uint32) field { f := attributes; f.num = num; return f }
	start, time := field{num: 2, kind: asFixed}, field{num: 3, kind: asFixed}
	temporality := field{num: 2, kind: asEnum, names: map[string]uint64{
		"AGGREGATION_TEMPORALITY_UNSPECIFIED": 0, "AGGREGATION_TEMPORALITY_DELTA": 1, "AGGREGATION_TEMPORALITY_CUMULATIVE": 2,
	}}
	points := func(m *message) field { return field{num: 1, repeated: true, message: m} }
	number := &message{
		"startTimeUnixNano": start, "timeUnixNano": time,
		"asDouble": {num: 4, kind: asDouble}, "asInt": {num: 6, kind: asSfixed},
		"attributes": at(7), "flags": {num: 8, kind: asUnsigned},
	}
	histogram := &message{
		"startTimeUnixNano": start, "timeUnixNano": time,
		"count": {num: 4, kind: asFixed}, "sum": {num: 5, kind: asDouble},
		"bucketCounts":   {num: 6, kind: asFixed, repeated: true},
		"explicitBounds": {num: 7, kind: asDouble, repeated: true},
		"attributes":     at(9), "flags": {num: 10, kind: asUnsigned},
		"min": {num: 11, kind: asDouble}, "max": {num: 12, kind: asDouble},
	}
	buckets := &message{
		"offset":       {num: 1, kind: asZigzag},
		"bucketCounts": {num: 2, kind: asUnsigned, repeated: true},
	}
	exponential := &message{
		"attributes": at(1), "startTimeUnixNano": start, "timeUnixNano": time,
		"count": {num: 4, kind: asFixed}, "sum": {num: 5, kind: asDouble},
		"scale": {num: 6, kind: asZigzag}, "zeroCount": {num: 7, kind: asFixed},
		"positive": {num: 8, message: buckets}, "negative": {num: 9, message: buckets},
		"flags": {num: 10, kind: asUnsigned},
		"min":   {num: 12, kind: asDouble}, "max": {num: 13, kind: asDouble},
	}
	return &message{
		"name":  {num: 1, kind: asString},
		"unit":  {num: 3, kind: asString},
		"gauge": {num: dataGauge, message: &message{"dataPoints": points(number)}},
		"sum": {num: dataSum, message: &message{
			"dataPoints": points(number), "aggregationTemporality": temporality, "isMonotonic": {num: 3, kind: asBool},
		}},
		"histogram":            {num: dataHistogram, message: &message{"dataPoints": points(histogram), "aggregationTemporality": temporality}},
		"exponentialHistogram": {num: dataExponential, message: &message{"dataPoints": points(exponential), "aggregationTemporality": temporality}},
		"summary":              {num: dataSummary, message: &message{"dataPoints": points(&message{})}},
	}
}

// camelAndSnake adds the original name of each field (trace_id) to its JSON name
// (traceId), as parsers of protobuf's JSON accept both.
func camelAndSnake(m *message, seen map[*message]bool) *message {
	if m == nil || seen[m] {
		return m
	}
	seen[m] = true
	for name, f := range *m {
		snake := make([]byte, 0, len(name)+4)
		for _, c := range []byte(name) {
			if 'A' <= c && c <= 'Z' {
				snake = append(snake, '_', c+'a'-'A')
			} else {
				snake = append(snake, c)
			}
		}
		(*m)[string(snake)] = f
		camelAndSnake(f.message, seen)
	}
	return m
}

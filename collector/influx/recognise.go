package influx

// role is what a line is.
type role uint8

// Roles of lines. Those from sameRequest on belong to the request that the line
// before began, and share its tags.
const (
	nothing role = iota
	detail       // of a known generator, and not needed
	jmeterSample
	jmeterTotals
	jmeterThreads
	fortioCall
	k6Request
	k6Call
	k6Dropped
	k6Iteration
	k6Workers
	ofMapping
	sameRequest
	k6Blocked   = sameRequest
	k6Receiving = sameRequest + 1
)

// recognise says what the line is that was parsed last.
func (d *Decoder) recognise() role {
	l := &d.line
	if r := k6Role(l.name); r != nothing && len(l.fields) > 0 && l.field("value") != nil {
		return r
	}
	if transaction := l.tag("transaction"); transaction != nil {
		if r := jmeterRole(l, transaction); r != nothing {
			return r
		}
	}
	if string(l.name) == "latency" && l.tag("thread") != nil && l.tag("ok") != nil && l.field("value") != nil {
		return fortioCall
	}
	if d.knowsField() {
		return ofMapping
	}
	if string(l.name) == "events" && string(l.tag("title")) == "ApacheJMeter" {
		return detail
	}
	return nothing
}

// k6Role knows the metrics of k6. All of them have one field, value.
func k6Role(name []byte) role {
	switch string(name) {
	case "http_req_duration":
		return k6Request
	case "grpc_req_duration":
		return k6Call
	case "http_req_blocked":
		return k6Blocked
	case "http_req_receiving":
		return k6Receiving
	case "dropped_iterations":
		return k6Dropped
	case "iteration_duration":
		return k6Iteration
	case "vus", "vus_max":
		return k6Workers
	case "http_reqs", "http_req_failed", "http_req_connecting", "http_req_tls_handshaking", "http_req_sending", "http_req_waiting",
		"iterations", "group_duration", "checks", "data_sent", "data_received":
		return detail
	}
	return nothing
}

// jmeterRole knows the lines of JMeter's backend listeners, which may have any
// measurement: one line for each sample, or sums every few seconds.
func jmeterRole(l *line, transaction []byte) role {
	switch {
	case l.field("duration") != nil && l.tag("status") != nil && l.tag("threadName") != nil:
		return jmeterSample
	case string(transaction) == "all" && string(l.tag("statut")) == "all" && l.field("countError") != nil:
		return jmeterTotals
	case string(transaction) == "internal" && l.field("maxAT") != nil:
		return jmeterThreads
	case l.field("count") != nil && (l.tag("statut") != nil || l.tag("responseCode") != nil):
		return detail // of one sampler; the sums hold it
	}
	return nothing
}

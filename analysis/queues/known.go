package queues

import "strings"

// known is what a name promises.
type known struct {
	name string // canonical
	kind Kind
	form Form
	unit unit   // of values whose unit was not sent
	when string // condition on the attributes, see meets
	most bool   // several series are merged by their largest, whatever the kind
	pair string
}

// level, age, total and spread make the usual rows of the tables.
func level(name string, k Kind) (known, bool) { return known{name: name, kind: k, form: Level}, true }

func age(name string, u unit) (known, bool) {
	return known{name: name, kind: Age, form: Level, unit: u}, true
}

func share(name string, k Kind) (known, bool) {
	return known{name: name, kind: k, form: Level, unit: ratio}, true
}

func total(name string, k Kind) (known, bool) { return known{name: name, kind: k, form: Total}, true }

func summed(name string, k Kind, u unit) (known, bool) {
	return known{name: name, kind: k, form: Total, unit: u}, true
}

func spread(name string, k Kind, u unit) (known, bool) {
	return known{name: name, kind: k, form: Spread, unit: u}, true
}

func state(name string, k Kind, when string) (known, bool) {
	return known{name: name, kind: k, form: Level, when: when}, true
}

func paired(name string, k Kind, pair string) (known, bool) {
	return known{name: name, kind: k, form: Total, pair: pair}, true
}

// lookup finds a name as normal writes it.
func lookup(key string) (known, bool) {
	if key == "" {
		return known{}, false
	}
	for _, table := range [...]func(string) (known, bool){requests, rpc, pools, threads, brokers, jobs, runtimes, proxies, models} {
		if m, ok := table(key); ok {
			return m, true
		}
	}
	return known{}, false
}

// requests are what HTTP servers say of requests.
func requests(key string) (known, bool) {
	switch key {
	case "http.server.active.requests":
		return level("http.server.active_requests", ActiveRequests)
	case "http.server.request.duration":
		return spread("http.server.request.duration", Duration, seconds)
	case "http.server.duration":
		return spread("http.server.duration", Duration, millis)
	case "http.server.requests": // Micrometer's timer
		return spread("http.server.requests", Duration, seconds)
	case "http.server.requests.active.active.count", "http.server.requests.active.seconds.active.count", "http.server.requests.active.seconds.gcount":
		return level("http.server.requests.active", ActiveRequests)
	case "http.requests.in.flight", "http.server.requests.in.flight", "http.server.in.flight.requests", "http.in.flight.requests",
		"http.requests.inprogress", "http.requests.in.progress", "http.server.requests.in.progress":
		return level("http.requests_in_progress", ActiveRequests)
	case "kestrel.queued.requests":
		return level("kestrel.queued_requests", Waiting)
	case "kestrel.queued.connections":
		return level("kestrel.queued_connections", Waiting)
	case "kestrel.rejected.connections":
		return total("kestrel.rejected_connections", Rejected)
	case "aspnetcore.rate.limiting.queued.requests":
		return level("aspnetcore.rate_limiting.queued_requests", Waiting)
	case "aspnetcore.rate.limiting.active.request.leases":
		return level("aspnetcore.rate_limiting.active_request_leases", Running)
	case "aspnetcore.rate.limiting.request.time.in.queue":
		return spread("aspnetcore.rate_limiting.request.time_in_queue", Wait, seconds)
	case "puma.backlog":
		return level("puma.backlog", Waiting)
	case "unicorn.backlog", "unicorn.queued":
		return level("unicorn.backlog", Waiting)
	case "gunicorn.backlog":
		return level("gunicorn.backlog", Waiting)
	case "phpfpm.listen.queue", "php.fpm.listen.queue", "php.fpm.listen.queue.size":
		return level("phpfpm.listen_queue", Waiting)
	case "phpfpm.active.processes", "php.fpm.active.processes", "php.fpm.processes.active":
		return level("phpfpm.active_processes", Workers)
	case "orders.queue.depth": // the service of the demo
		return level("orders.queue.depth", Waiting)
	case "orders.slots.busy":
		return level("orders.slots.busy", Running)
	case "orders.queue.wait":
		return spread("orders.queue.wait", Wait, seconds)
	}
	return known{}, false
}

// rpc are what servers of remote calls say.
func rpc(key string) (known, bool) {
	switch key {
	case "rpc.server.call.duration":
		return spread("rpc.server.call.duration", Duration, seconds)
	case "rpc.server.duration":
		return spread("rpc.server.duration", Duration, millis)
	case "rpc.server.active.requests":
		return level("rpc.server.active_requests", ActiveRequests)
	case "grpc.server.call.started":
		return paired("grpc.server.call.started", Started, "grpc.server.call")
	case "grpc.server.call.duration":
		return spread("grpc.server.call.duration", Duration, seconds)
	case "grpc.server.started":
		return paired("grpc.server.started", Started, "grpc.server")
	case "grpc.server.handled":
		return paired("grpc.server.handled", Ended, "grpc.server")
	case "grpc.server.handling":
		return spread("grpc.server.handling", Duration, seconds)
	case "messaging.client.sent.messages":
		return paired("messaging.client.sent.messages", Started, "messaging.client")
	case "messaging.client.consumed.messages":
		return paired("messaging.client.consumed.messages", Ended, "messaging.client")
	}
	return known{}, false
}

// proxies are what proxies say in front of services. Envoy's names hold the
// name of the cluster and are found by envoy.
func proxies(key string) (known, bool) {
	switch key {
	case "haproxy.requests.queued":
		return level("haproxy.requests.queued", Waiting)
	case "haproxy.backend.current.queue", "haproxy.server.current.queue":
		return level(strings.Replace(key, "current.queue", "current_queue", 1), Waiting)
	case "haproxy.backend.current.sessions":
		return level("haproxy.backend.current_sessions", Running)
	case "haproxy.requests.average.time": // of waiting in the queue, whatever its name says
		return age("haproxy.requests.average_time", millis)
	case "haproxy.backend.queue.time.average":
		return age("haproxy.backend.queue_time_average", seconds)
	case "haproxy.connections.retries":
		return total("haproxy.connections.retries", Retries)
	case "apache.workers":
		return state("apache.workers", Workers, "state=busy")
	case "apiserver.current.inqueue.requests", "apiserver.flowcontrol.current.inqueue.requests":
		return level("apiserver.flowcontrol.current_inqueue_requests", Waiting)
	case "apiserver.current.inflight.requests":
		return level("apiserver.current_inflight_requests", Running)
	case "revision.queue.depth":
		return level("knative.revision_queue_depth", Waiting)
	}
	return known{}, false
}

// envoy reads names of Envoy, in which the cluster stands where its statistics
// are not tagged: cluster.NAME.upstream_rq_pending_active.
func envoy(name, key string) (known, string, bool) {
	key = strings.TrimPrefix(key, "envoy.")
	if m, place, ok := envoyServer(name, key); ok {
		return m, place, true
	}
	if !strings.HasPrefix(key, "cluster.") {
		return known{}, "", false
	}
	i := strings.LastIndex(key, ".upstream.")
	if i < 0 {
		return known{}, "", false
	}
	m := known{form: Level}
	switch key[i+1:] {
	case "upstream.rq.pending.active":
		m.name, m.kind = "envoy.cluster.upstream_rq_pending_active", Waiting
	case "upstream.rq.active":
		m.name, m.kind = "envoy.cluster.upstream_rq_active", Running
	case "upstream.rq.pending.overflow":
		m.name, m.kind, m.form = "envoy.cluster.upstream_rq_pending_overflow", Rejected, Total
	case "upstream.rq.active.overflow":
		m.name, m.kind, m.form = "envoy.cluster.upstream_rq_active_overflow", Rejected, Total
	case "upstream.rq.retry":
		m.name, m.kind, m.form = "envoy.cluster.upstream_rq_retry", Retries, Total
	case "upstream.rq.timeout":
		m.name, m.kind, m.form = "envoy.cluster.upstream_rq_timeout", Timeouts, Total
	default:
		return known{}, "", false
	}
	return m, between(name, "cluster.", "upstream_rq"), true
}

// envoyServer is the number of requests that a listener of Envoy has; that of
// its own administration is none of the service's.
func envoyServer(name, key string) (known, string, bool) {
	if !strings.HasPrefix(key, "http.") || !strings.HasSuffix(key, ".downstream.rq.active") {
		return known{}, "", false
	}
	place := between(name, "http.", "downstream_rq")
	if place == "admin" {
		return known{}, "", false
	}
	return known{name: "envoy.http.downstream_rq_active", kind: ActiveRequests, form: Level}, place, true
}

// between returns what stands between two parts of a name, without the dots.
func between(name, before, after string) string {
	i := strings.Index(name, before)
	j := strings.LastIndex(name, after)
	if i < 0 || j < i+len(before) {
		return ""
	}
	return strings.TrimSuffix(name[i+len(before):j], ".")
}

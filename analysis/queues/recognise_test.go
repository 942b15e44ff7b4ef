package queues

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestRecognise goes through the names that servers use, as the conventions
// write them and as they come through Prometheus.
func TestRecognise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, attributes, unit string
		kind                   sample.Kind
		want                   Queue
	}{
		{"http.server.active_requests", "http.request.method=GET,url.scheme=http", "{request}", sample.UpDown, Queue{Name: "http.server.active_requests", Kind: ActiveRequests}},
		{"http_server_active_requests", "http_request_method=GET", "", sample.Gauge, Queue{Name: "http.server.active_requests", Kind: ActiveRequests}},
		{"http.server.request.duration", "", "s", sample.Histogram, Queue{Name: "http.server.request.duration", Kind: Duration}},
		{"http_server_request_duration_seconds", "", "", sample.Histogram, Queue{Name: "http.server.request.duration", Kind: Duration}},
		{"http_server_request_duration_milliseconds", "", "", sample.DeltaHisto, Queue{Name: "http.server.request.duration", Kind: Duration, Scale: 1e-3}},
		{"http.server.duration", "", "ms", sample.Histogram, Queue{Name: "http.server.duration", Kind: Duration, Scale: 1e-3}},
		{"http_server_requests_seconds", "uri=/", "", sample.Histogram, Queue{Name: "http.server.requests", Kind: Duration}},
		{"http.server.requests", "uri=/", "milliseconds", sample.Histogram, Queue{Name: "http.server.requests", Kind: Duration, Scale: 1e-3}},
		{"rpc.server.call.duration", "", "s", sample.Histogram, Queue{Name: "rpc.server.call.duration", Kind: Duration}},
		{"rpc.server.duration", "", "", sample.Histogram, Queue{Name: "rpc.server.duration", Kind: Duration, Scale: 1e-3}},
		{"grpc.server.call.started", "grpc.method=a", "{call}", sample.Counter, Queue{Name: "grpc.server.call.started", Kind: Started, Pair: "grpc.server.call"}},
		{"grpc_server_started_total", "grpc_method=a", "", sample.Counter, Queue{Name: "grpc.server.started", Kind: Started, Pair: "grpc.server"}},
		{"grpc_server_handled_total", "grpc_code=OK", "", sample.Counter, Queue{Name: "grpc.server.handled", Kind: Ended, Pair: "grpc.server"}},
		{"db.client.connection.pending_requests", "db.client.connection.pool.name=main", "{request}", sample.UpDown, Queue{Name: "db.client.connection.pending_requests", Kind: PoolPending, Place: "main"}},
		{"db.client.connections.pending_requests", "pool.name=main", "{requests}", sample.UpDown, Queue{Name: "db.client.connection.pending_requests", Kind: PoolPending, Place: "main"}},
		{"db_client_connections_pending_requests", `pool_name=a\,b`, "", sample.Gauge, Queue{Name: "db.client.connection.pending_requests", Kind: PoolPending, Place: "a,b"}},
		{"db.client.connection.count", "db.client.connection.pool.name=m,db.client.connection.state=used", "{connection}", sample.UpDown, Queue{Name: "db.client.connection.count", Kind: PoolUsed, Place: "m"}},
		{"db.client.connections.usage", "pool.name=m,state=used", "{connections}", sample.UpDown, Queue{Name: "db.client.connection.count", Kind: PoolUsed, Place: "m"}},
		{"db.client.connection.max", "", "{connection}", sample.UpDown, Queue{Name: "db.client.connection.max", Kind: PoolMax}},
		{"db.client.connection.wait_time", "", "s", sample.Histogram, Queue{Name: "db.client.connection.wait_time", Kind: Wait}},
		{"db.client.connections.wait_time", "", "ms", sample.Histogram, Queue{Name: "db.client.connection.wait_time", Kind: Wait, Scale: 1e-3}},
		{"db.client.connection.timeouts", "", "{timeout}", sample.Counter, Queue{Name: "db.client.connection.timeouts", Kind: Timeouts}},
		{"db.sql.connection.open", "status=inuse", "", sample.Gauge, Queue{Name: "db.sql.connection.open", Kind: PoolUsed}},
		{"go_sql_wait_duration_seconds_total", "", "", sample.Counter, Queue{Name: "go.sql.wait_duration", Kind: Wait}},
		{"messaging.client.sent.messages", "messaging.destination.name=orders", "{message}", sample.Counter, Queue{Name: "messaging.client.sent.messages", Kind: Started, Pair: "messaging.client", Place: "orders"}},
		{"cluster.orders.upstream_rq_pending_active", "", "", sample.Gauge, Queue{Name: "envoy.cluster.upstream_rq_pending_active", Kind: Waiting, Place: "orders"}},
		{"cluster.outbound|80||o.ns.svc.cluster.local.upstream_rq_active", "", "", sample.Gauge, Queue{Name: "envoy.cluster.upstream_rq_active", Kind: Running, Place: "outbound|80||o.ns.svc.cluster.local"}},
		{"envoy_cluster_upstream_rq_pending_active", "envoy_cluster_name=orders", "", sample.Gauge, Queue{Name: "envoy.cluster.upstream_rq_pending_active", Kind: Waiting, Place: "orders"}},
		{"envoy.cluster.upstream_rq_pending_overflow", "envoy.cluster_name=orders", "", sample.Counter, Queue{Name: "envoy.cluster.upstream_rq_pending_overflow", Kind: Rejected, Place: "orders"}},
		{"envoy_cluster_upstream_rq_retry", "envoy_cluster_name=orders", "", sample.Counter, Queue{Name: "envoy.cluster.upstream_rq_retry", Kind: Retries, Place: "orders"}},
		{"http.ingress_http.downstream_rq_active", "", "", sample.Gauge, Queue{Name: "envoy.http.downstream_rq_active", Kind: ActiveRequests, Place: "ingress_http"}},
		{"haproxy.requests.queued", "", "{requests}", sample.UpDown, Queue{Name: "haproxy.requests.queued", Kind: Waiting}},
		{"haproxy_backend_current_queue", "proxy=orders", "", sample.Gauge, Queue{Name: "haproxy.backend.current_queue", Kind: Waiting, Place: "orders"}},
		{"haproxy.requests.average_time", "", "ms", sample.Gauge, Queue{Name: "haproxy.requests.average_time", Kind: Age, Scale: 1e-3, Merge: Most}},
		{"kestrel.queued_requests", "", "{request}", sample.UpDown, Queue{Name: "kestrel.queued_requests", Kind: Waiting}},
		{"kestrel_queued_connections", "", "", sample.Gauge, Queue{Name: "kestrel.queued_connections", Kind: Waiting}},
		{"kestrel.rejected_connections", "", "{connection}", sample.Counter, Queue{Name: "kestrel.rejected_connections", Kind: Rejected}},
		{"dotnet.thread_pool.queue.length", "", "{work_item}", sample.UpDown, Queue{Name: "dotnet.thread_pool.queue.length", Kind: Waiting}},
		{"dotnet_thread_pool_queue_length", "", "", sample.Gauge, Queue{Name: "dotnet.thread_pool.queue.length", Kind: Waiting}},
		{"aspnetcore.rate_limiting.queued_requests", "", "{request}", sample.UpDown, Queue{Name: "aspnetcore.rate_limiting.queued_requests", Kind: Waiting}},
		{"aspnetcore.rate_limiting.request.time_in_queue", "", "s", sample.Histogram, Queue{Name: "aspnetcore.rate_limiting.request.time_in_queue", Kind: Wait}},
		{"tomcat.thread.busy.count", "tomcat.thread.pool.name=http-nio", "{thread}", sample.UpDown, Queue{Name: "tomcat.thread.busy.count", Kind: Workers}},
		{"tomcat_threads_busy_threads", "name=http-nio-8080", "", sample.Gauge, Queue{Name: "tomcat.thread.busy.count", Kind: Workers, Place: "http-nio-8080"}},
		{"tomcat_threads_config_max_threads", "name=http-nio-8080", "", sample.Gauge, Queue{Name: "tomcat.thread.limit", Kind: WorkersMax, Place: "http-nio-8080"}},
		{"hikaricp.connections.pending", "pool=HikariPool-1", "connections", sample.Gauge, Queue{Name: "hikaricp.connections.pending", Kind: PoolPending, Place: "HikariPool-1"}},
		{"hikaricp_connections_pending", "pool=HikariPool-1", "", sample.Gauge, Queue{Name: "hikaricp.connections.pending", Kind: PoolPending, Place: "HikariPool-1"}},
		{"hikaricp_connections_active", "pool=p", "", sample.Gauge, Queue{Name: "hikaricp.connections.active", Kind: PoolUsed, Place: "p"}},
		{"hikaricp_connections_max", "pool=p", "", sample.Gauge, Queue{Name: "hikaricp.connections.max", Kind: PoolMax, Place: "p"}},
		{"executor_queued_tasks", "name=pool", "", sample.Gauge, Queue{Name: "executor.queued", Kind: Waiting, Place: "pool"}},
		{"executor.queued", "name=pool", "tasks", sample.Gauge, Queue{Name: "executor.queued", Kind: Waiting, Place: "pool"}},
		{"kafka.consumer_group.lag", "group=g,partition=0,topic=t", "1", sample.Gauge, Queue{Name: "kafka.consumer_group.lag", Kind: Lag, Place: "g/0/t"}},
		{"kafka_consumergroup_lag", "consumergroup=g,partition=0,topic=t", "", sample.Gauge, Queue{Name: "kafka.consumer_group.lag", Kind: Lag, Place: "g/0/t"}},
		{"kafka.consumer_group.lag_sum", "group=g,topic=t", "1", sample.Gauge, Queue{Name: "kafka.consumer_group.lag_sum", Kind: Lag, Place: "g/t"}},
		{"kafka_consumer_fetch_manager_records_lag_max", "", "", sample.Gauge, Queue{Name: "kafka.consumer.records_lag_max", Kind: Lag, Merge: Most}},
		{"kafka_consumergroup_group_lag_seconds", "group=g", "", sample.Gauge, Queue{Name: "kafka.consumer_group.lag_time", Kind: Age, Merge: Most, Place: "g"}},
		{"rabbitmq.message.current", "state=ready", "{messages}", sample.UpDown, Queue{Name: "rabbitmq.message.current", Kind: Lag}},
		{"nodejs.eventloop.delay.p99", "", "s", sample.Gauge, Queue{Name: "nodejs.eventloop.delay.p99", Kind: Age, Merge: Most}},
		{"nodejs_eventloop_lag_p99_seconds", "", "", sample.Gauge, Queue{Name: "nodejs.eventloop.delay.p99", Kind: Age, Merge: Most}},
		{"go.schedule.duration", "", "s", sample.Histogram, Queue{Name: "go.schedule.duration", Kind: Wait}},
		{"go_sched_latencies_seconds", "", "", sample.Histogram, Queue{Name: "go.schedule.duration", Kind: Wait}},
		{"jvm.cpu.recent_utilization", "", "1", sample.Gauge, Queue{Name: "jvm.cpu.recent_utilization", Kind: CPU, Merge: Most}},
		{"process_cpu_utilization_ratio", "", "", sample.Gauge, Queue{Name: "process.cpu.utilization", Kind: CPU, Merge: Most}},
		{"vllm:num_requests_waiting", "engine=0,model_name=m", "", sample.Gauge, Queue{Name: "vllm:num_requests_waiting", Kind: Waiting, Place: "0/m"}},
		{"vllm_num_requests_running", "", "", sample.Gauge, Queue{Name: "vllm:num_requests_running", Kind: Running}},
		{"vllm:request_queue_time_seconds", "", "", sample.Histogram, Queue{Name: "vllm:request_queue_time_seconds", Kind: Wait}},
		{"vllm:gpu_cache_usage_perc", "", "", sample.Gauge, Queue{Name: "vllm:kv_cache_usage_perc", Kind: Utilisation, Merge: Most}},
		{"vllm:admission_rejections_total", "model_name=m,reason=queue_full", "", sample.Counter, Queue{Name: "vllm:admission_rejections", Kind: Rejected, Place: "m"}},
		{"vllm:e2e_request_latency_seconds", "engine=0,model_name=m", "", sample.Histogram, Queue{Name: "vllm:e2e_request_latency_seconds", Kind: Duration, Place: "0/m"}},
		{"vllm:kv_cache_usage_perc", "engine=0,model_name=m", "", sample.Gauge, Queue{Name: "vllm:kv_cache_usage_perc", Kind: Utilisation, Merge: Most, Place: "0/m"}},
		{"nv_inference_pending_request_count", "model=m", "", sample.Gauge, Queue{Name: "nv_inference_pending_request_count", Kind: Waiting, Place: "m"}},
		{"nv_inference_queue_duration_us", "model=m", "", sample.Counter, Queue{Name: "nv_inference_queue_duration", Kind: Wait, Scale: 1e-6, Place: "m"}},
		{"nv_trt_llm_request_metrics", "request_type=waiting", "", sample.Gauge, Queue{Name: "nv_trt_llm_request_metrics", Kind: Waiting}},
		{"gen_ai.latency.time_in_queue", "", "s", sample.DeltaHisto, Queue{Name: "gen_ai.latency.time_in_queue", Kind: Wait}},
		{"orders.queue.depth", "", "{request}", sample.Gauge, Queue{Name: "orders.queue.depth", Kind: Waiting}},
		{"tgi_queue_size", "", "", sample.Gauge, Queue{Name: "tgi_queue_size", Kind: Waiting}},
		{"sglang:num_queue_reqs", "model_name=m", "", sample.Gauge, Queue{Name: "sglang:num_queue_reqs", Kind: Waiting, Place: "m"}},
		{sample.WithRole("queue", "my.depth"), "queue=a", "", sample.Gauge, Queue{Name: "my.depth", Kind: Waiting, Place: "a", Role: "queue"}},
		{sample.WithRole("pool_pending", "my.pool"), "", "", sample.UpDown, Queue{Name: "my.pool", Kind: PoolPending, Role: "pool_pending"}},
		{sample.WithRole("in_flight", "my.active"), "", "", sample.UpDown, Queue{Name: "my.active", Kind: ActiveRequests, Role: "in_flight"}},
		{sample.WithRole("in_flight_time", "my.active.ms"), "", "ms", sample.Counter, Queue{Name: "my.active.ms", Kind: ActiveTime, Scale: 1e-3, Role: "in_flight_time"}},
		{sample.WithRole("workers", "my.busy"), "", "", sample.Gauge, Queue{Name: "my.busy", Kind: Workers, Role: "workers"}},
		{sample.WithRole("workers_max", "my.max"), "", "", sample.Gauge, Queue{Name: "my.max", Kind: WorkersMax, Role: "workers_max"}},
		{sample.WithRole("cpu", "my.cpu"), "", "%", sample.Gauge, Queue{Name: "my.cpu", Kind: CPU, Scale: 0.01, Merge: Most, Role: "cpu"}},
	} {
		c.want.Form = map[sample.Kind]Form{
			sample.Gauge: Level, sample.UpDown: Level, sample.Counter: Total, sample.DeltaSum: Total, sample.Histogram: Spread, sample.DeltaHisto: Spread,
		}[c.kind]
		if c.want.Scale == 0 {
			c.want.Scale = 1
		}
		got, ok := Recognise(&sample.Series{Name: c.name, Attributes: c.attributes, Unit: c.unit, Kind: c.kind})
		if !ok {
			t.Errorf("%s is not recognised", c.name)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if name := Canonical(c.name); name != c.want.Name {
			t.Errorf("Canonical(%q) = %q, want %q", c.name, name, c.want.Name)
		}
	}
}

// TestNotQueues lists what looks like a queue and is none, and known names in
// the wrong shape.
func TestNotQueues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, name, attributes, unit string
		kind                        sample.Kind
	}{
		{"parts of vllm:num_requests_waiting", "vllm:num_requests_waiting_by_reason", "engine=0,model_name=m,reason=capacity", "", sample.Gauge},
		{"idle keep-alive connections", "nginx.connections_current", "state=waiting", "{connections}", sample.UpDown},
		{"the same by its exporter", "nginx_connections_waiting", "", "", sample.Gauge},
		{"threads that exist", "jvm.thread.count", "jvm.thread.state=waiting", "{thread}", sample.UpDown},
		{"the same by Micrometer", "jvm_threads_states_threads", "state=waiting", "", sample.Gauge},
		{"threads that exist", "dotnet.thread_pool.thread.count", "", "{thread}", sample.UpDown},
		{"goroutines that exist", "go.goroutine.count", "", "{goroutine}", sample.UpDown},
		{"goroutines that exist", "go_goroutines", "", "", sample.Gauge},
		{"users of a generator", "vus", "", "", sample.Gauge},
		{"their limit", "vus_max", "", "", sample.Gauge},
		{"users of a generator", "locust.users.count", "", "{user}", sample.Gauge},
		{"calls to others", "http.client.active_requests", "", "{request}", sample.UpDown},
		{"spans to be exported", "otel.sdk.processor.span.queue.size", "", "{span}", sample.UpDown},
		{"telemetry to be exported", "otelcol_exporter_queue_size", "", "", sample.Gauge},
		{"scrapes in flight", "promhttp_metric_handler_requests_in_flight", "", "", sample.Gauge},
		{"connections that idle", "db.client.connection.count", "db.client.connection.state=idle", "{connection}", sample.UpDown},
		{"all connections", "db.client.connections.usage", "", "{connections}", sample.UpDown},
		{"all connections", "hikaricp_connections", "pool=p", "", sample.Gauge},
		{"idle connections", "hikaricp_connections_idle", "pool=p", "", sample.Gauge},
		{"room left", "executor_queue_remaining_tasks", "", "", sample.Gauge},
		{"a high-water mark", "phpfpm_max_listen_queue", "", "", sample.Gauge},
		{"a statistic of a delay", "nodejs.eventloop.delay.stddev", "", "s", sample.Gauge},
		{"handles of libuv", "nodejs_active_requests_total", "", "", sample.Gauge},
		{"load of the whole machine", "jvm.system.cpu.load_1m", "", "{run_queue_item}", sample.Gauge},
		{"Envoy's own administration", "http.admin.downstream_rq_active", "", "", sample.Gauge},
		{"a limit that opened", "cluster.orders.circuit_breakers.default.rq_open", "", "", sample.Gauge},
		{"messages delivered and not acknowledged yet", "rabbitmq.message.current", "state=unacknowledged", "{messages}", sample.UpDown},
		{"a counter by the name of a timer", "http_server_requests_total", "", "", sample.Counter},
		{"a counter by the name of a level", "http.server.active_requests", "", "{request}", sample.Counter},
		{"a level by the name of a timer", "http.server.request.duration", "", "s", sample.Gauge},
		{"a time by the name of a depth", "kafka.consumer_group.lag", "group=g", "ms", sample.Gauge},
		{"a time by its suffix", "haproxy_requests_queued_seconds", "", "", sample.Gauge},
		{"bytes", "kafka.consumer_group.lag", "group=g", "By", sample.Gauge},
		{"a count by the name of a time", "go.schedule.duration", "", "{goroutine}", sample.Histogram},
		{"someone's own metric, not mapped", "billing.queue.depth", "", "{request}", sample.Gauge},
		{"nothing", "", "", "", sample.Gauge},
		{"dots", "...", "", "", sample.Gauge},
		{"a role that labels nothing here", sample.WithRole("scheduled", "mine"), "", "", sample.Counter},
		{"a role in the wrong shape", sample.WithRole("queue", "mine"), "", "", sample.Counter},
	} {
		if q, ok := Recognise(&sample.Series{Name: c.name, Attributes: c.attributes, Unit: c.unit, Kind: c.kind}); ok {
			t.Errorf("%s (%s) is taken for %+v", c.name, c.why, q)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]Kind{}
	for k := Waiting; k <= Timeouts; k++ {
		name := k.String()
		if old, dup := seen[name]; dup || name == "unknown" {
			t.Errorf("kinds %d and %d are both %q", old, k, name)
		}
		seen[name] = k
	}
	if Kind(0).String() != "unknown" || (Timeouts+1).String() != "unknown" {
		t.Error("kinds that do not exist have names")
	}
}

func FuzzRecognise(f *testing.F) {
	f.Add("cluster.orders.upstream_rq_pending_active", "", "", uint8(0))
	f.Add("db_client_connection_count", `db_client_connection_state=used,pool=a\,b`, "{connection}", uint8(1))
	f.Add("kafka_consumergroup_group_lag_seconds", "group=g", "s", uint8(0))
	f.Fuzz(func(t *testing.T, name, attributes, unit string, kind uint8) {
		s := sample.Series{Name: name, Attributes: attributes, Unit: unit, Kind: sample.Kind(kind % 6)}
		q, ok := Recognise(&s)
		if ok && (q.Name == "" && name == "" || q.Scale <= 0 || q.Kind.String() == "unknown" || q.Form == 0) {
			t.Fatalf("%+v from %+v", q, s)
		}
	})
}

func BenchmarkRecognise(b *testing.B) {
	for _, s := range []sample.Series{
		{Name: "nv_inference_queue_duration_us", Attributes: "model=m", Kind: sample.Counter},
		{Name: "http_request_size_bytes", Attributes: "method=GET", Kind: sample.Histogram},
	} {
		b.Run(s.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Recognise(&s)
			}
		})
	}
}

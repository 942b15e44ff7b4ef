package queues

// brokers are what brokers and their clients say of messages.
func brokers(key string) (known, bool) {
	switch key {
	case "kafka.consumer.group.lag", "kafka.consumergroup.lag", "kafka.consumergroup.group.lag":
		return level("kafka.consumer_group.lag", Lag)
	case "kafka.consumer.group.lag.sum", "kafka.consumergroup.lag.sum", "kafka.consumergroup.group.sum.lag":
		return level("kafka.consumer_group.lag_sum", Lag)
	case "kafka.consumergroup.group.lag.seconds", "kafka.consumergroup.group.max.lag.seconds":
		return age("kafka.consumer_group.lag_time", seconds)
	case "kafka.consumer.records.lag", "kafka.consumer.fetch.manager.records.lag":
		return level("kafka.consumer.records_lag", Lag)
	case "kafka.consumer.records.lag.max", "kafka.consumer.fetch.manager.records.lag.max":
		m, _ := level("kafka.consumer.records_lag_max", Lag)
		m.most = true
		return m, true
	case "kafka.request.queue":
		return level("kafka.request.queue", Waiting)
	case "rabbitmq.message.current":
		return state("rabbitmq.message.current", Lag, "state=ready")
	case "rabbitmq.queue.messages.ready":
		return level("rabbitmq.queue_messages_ready", Lag)
	case "rabbitmq.queue.messages.unacked":
		return level("rabbitmq.queue_messages_unacked", Running)
	case "nats.consumer.num.pending", "jetstream.consumer.num.pending":
		return level("jetstream.consumer_num_pending", Lag)
	case "nats.consumer.num.ack.pending", "jetstream.consumer.num.ack.pending":
		return level("jetstream.consumer_num_ack_pending", Running)
	case "pubsub.googleapis.com.subscription.num.undelivered.messages":
		return level("pubsub.subscription.num_undelivered_messages", Lag)
	case "pubsub.googleapis.com.subscription.oldest.unacked.message.age":
		return age("pubsub.subscription.oldest_unacked_message_age", seconds)
	case "amazonaws.com.aws.sqs.approximatenumberofmessagesvisible", "aws.sqs.approximate.number.of.messages.visible":
		return level("aws.sqs.approximate_number_of_messages_visible", Lag)
	case "amazonaws.com.aws.sqs.approximateageofoldestmessage", "aws.sqs.approximate.age.of.oldest.message":
		return age("aws.sqs.approximate_age_of_oldest_message", seconds)
	}
	return known{}, false
}

// jobs are what queues of background jobs say.
func jobs(key string) (known, bool) {
	switch key {
	case "sidekiq.queue.size", "sidekiq.queue.backlog", "sidekiq.queue.enqueued.jobs":
		return level("sidekiq.queue.size", Waiting)
	case "sidekiq.queue.latency":
		return age("sidekiq.queue.latency", seconds)
	case "celery.queue.length":
		return level("celery.queue_length", Waiting)
	case "bullmq.job.count":
		return state("bullmq.job_count", Waiting, "state=waiting|wait")
	case "workqueue.depth":
		return level("workqueue.depth", Waiting)
	case "workqueue.queue.duration":
		return spread("workqueue.queue_duration", Wait, seconds)
	}
	return known{}, false
}

// models are what servers of language and other models say.
func models(key string) (known, bool) {
	if m, ok := vllm(key); ok {
		return m, true
	}
	switch key {
	case "sglang.num.queue.reqs":
		return level("sglang:num_queue_reqs", Waiting)
	case "sglang.num.running.reqs":
		return level("sglang:num_running_reqs", Running)
	case "sglang.queue.time":
		return spread("sglang:queue_time_seconds", Wait, seconds)
	case "tgi.queue.size":
		return level("tgi_queue_size", Waiting)
	case "tgi.batch.current.size":
		return level("tgi_batch_current_size", Running)
	case "tgi.request.queue.duration":
		return spread("tgi_request_queue_duration", Wait, seconds)
	case "tgi.request.duration":
		return spread("tgi_request_duration", Duration, seconds)
	case "nv.inference.pending.request.count":
		return level("nv_inference_pending_request_count", Waiting)
	case "nv.inference.queue.duration":
		return summed("nv_inference_queue_duration", Wait, micros)
	case "nv.inference.request.duration":
		return summed("nv_inference_request_duration", Duration, micros)
	case "nv.trt.llm.request.metrics":
		return state("nv_trt_llm_request_metrics", Waiting, "request.type=waiting")
	case "ray.serve.deployment.queued.queries":
		return level("ray_serve_deployment_queued_queries", Waiting)
	case "ray.serve.replica.processing.queries":
		return level("ray_serve_replica_processing_queries", Running)
	case "lmdeploy.num.requests.waiting":
		return level("lmdeploy:num_requests_waiting", Waiting)
	case "lmdeploy.num.requests.running":
		return level("lmdeploy:num_requests_running", Running)
	case "dynamo.frontend.queued.requests":
		return level("dynamo_frontend_queued_requests", Waiting)
	case "dynamo.frontend.inflight.requests":
		return level("dynamo_frontend_inflight_requests", ActiveRequests)
	case "llamacpp.requests.deferred":
		return level("llamacpp:requests_deferred", Waiting)
	case "llamacpp.requests.processing":
		return level("llamacpp:requests_processing", Running)
	case "ts.queue.latency":
		return summed("ts_queue_latency", Wait, micros)
	case "gen.ai.server.request.duration":
		return spread("gen_ai.server.request.duration", Duration, seconds)
	case "gen.ai.latency.time.in.queue": // of spans: vLLM's llm_request
		return spread("gen_ai.latency.time_in_queue", Wait, seconds)
	case "gen.ai.latency.e2e":
		return spread("gen_ai.latency.e2e", Duration, seconds)
	}
	return known{}, false
}

func vllm(key string) (known, bool) {
	switch key {
	case "vllm.num.requests.waiting":
		return level("vllm:num_requests_waiting", Waiting)
	case "vllm.num.requests.running":
		return level("vllm:num_requests_running", Running)
	case "vllm.num.requests.swapped":
		return level("vllm:num_requests_swapped", Waiting)
	case "vllm.request.queue.time":
		return spread("vllm:request_queue_time_seconds", Wait, seconds)
	case "vllm.e2e.request.latency":
		return spread("vllm:e2e_request_latency_seconds", Duration, seconds)
	case "vllm.kv.cache.usage.perc", "vllm.gpu.cache.usage.perc":
		return share("vllm:kv_cache_usage_perc", Utilisation)
	case "vllm.admission.rejections":
		return total("vllm:admission_rejections", Rejected)
	}
	return known{}, false
}

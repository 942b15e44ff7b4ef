package convention

// Attribute is the meaning of a resource, span or data point attribute.
type Attribute uint8

// Meanings of attributes. The four aliases of the run id are in the order in
// which they are believed.
const (
	NoAttribute Attribute = iota
	RunID
	RunName
	RunAliasTestID
	RunAliasTestid
	RunAliasTestRunID
	RunAliasRunID
	Scenario
	Generator
	Step
	IntendedTime
	ArrivalIndex
	ArrivalModel
	ArrivalProcess
	ArrivalRate
	ExpectedInterval
	Deadline
	RequestID
	LastAttempt
	ResendCount
	HTTPStatus
	HTTPStatusOld
	GRPCStatus
	RPCStatus
	ErrorType
	ServiceName
	ServiceNamespace
	ServiceInstance
	HostName
	ProcessPID
	FirstByteSeconds // time from sending to the first byte or token
	FirstByteMillis  // the same in milliseconds
	SampleRate       // this span stands for so many
	SampleRatio      // this span was kept with this probability
	OutputTokens     // tokens of the answer
	ModelOperation   // the span is an operation on a model, whatever requests it takes
	QueueSeconds     // of a server's span: time spent waiting
	ServerSeconds    // of a server's span: time from arrival to the end, waiting included
)

// IsRunAlias reports whether a is one of the foreign names of the run id.
func (a Attribute) IsRunAlias() bool { return a >= RunAliasTestID && a <= RunAliasRunID }

// loadtestAttribute knows the names that a mapping file may map to.
func loadtestAttribute(key []byte) Attribute {
	switch string(key) {
	case "loadtest.run.id":
		return RunID
	case "loadtest.run.name":
		return RunName
	case "loadtest.scenario":
		return Scenario
	case "loadtest.generator":
		return Generator
	case "loadtest.step":
		return Step
	case "loadtest.intended_time_unix_nano":
		return IntendedTime
	case "loadtest.arrival.index":
		return ArrivalIndex
	case "loadtest.arrival.model":
		return ArrivalModel
	case "loadtest.arrival.process":
		return ArrivalProcess
	case "loadtest.arrival.rate":
		return ArrivalRate
	case "loadtest.expected_interval":
		return ExpectedInterval
	case "loadtest.deadline":
		return Deadline
	case "loadtest.request.id":
		return RequestID
	case "loadtest.attempt.last":
		return LastAttempt
	case "loadtest.time_to_first_byte":
		return FirstByteSeconds
	case "loadtest.output_tokens":
		return OutputTokens
	}
	return NoAttribute
}

// builtin knows every name that needs no configuration. The compiler turns the
// switch into a search by length and content; it does not allocate.
func builtin(key []byte) Attribute {
	if len(key) > 9 && string(key[:9]) == "loadtest." {
		return loadtestAttribute(key)
	}
	switch string(key) {
	case "test.scenario": // of k6's browser module
		return Scenario
	case "test_id":
		return RunAliasTestID
	case "testid":
		return RunAliasTestid
	case "test.run.id":
		return RunAliasTestRunID
	case "run.id":
		return RunAliasRunID
	case "http.response.status_code":
		return HTTPStatus
	case "http.status_code":
		return HTTPStatusOld
	case "rpc.grpc.status_code":
		return GRPCStatus
	case "rpc.response.status_code":
		return RPCStatus
	case "error.type":
		return ErrorType
	case "http.request.resend_count", "http.resend_count":
		return ResendCount
	case "service.name":
		return ServiceName
	case "service.namespace":
		return ServiceNamespace
	case "service.instance.id":
		return ServiceInstance
	case "host.name":
		return HostName
	case "process.pid":
		return ProcessPID
	case "gen_ai.response.time_to_first_chunk", "gen_ai.latency.time_to_first_token",
		"gen_ai.server.time_to_first_token", "gen_ai.client.operation.time_to_first_chunk":
		return FirstByteSeconds
	case "response.time.ms":
		return FirstByteMillis
	case "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "llm.token_count.completion":
		return OutputTokens
	case "gen_ai.operation.name":
		return ModelOperation
	case "gen_ai.latency.time_in_queue":
		return QueueSeconds
	case "gen_ai.latency.e2e":
		return ServerSeconds
	case "SampleRate":
		return SampleRate
	case "sampling.probability", "sampler.param":
		return SampleRatio
	}
	return NoAttribute
}

// builtinNames lists the names that builtin knows.
func builtinNames() []string {
	return []string{
		"loadtest.run.id", "loadtest.run.name", "loadtest.scenario", "loadtest.generator", "loadtest.step",
		"loadtest.intended_time_unix_nano", "loadtest.arrival.index", "loadtest.arrival.model", "loadtest.arrival.process",
		"loadtest.arrival.rate", "loadtest.expected_interval", "loadtest.deadline", "loadtest.request.id", "loadtest.attempt.last",
		"loadtest.time_to_first_byte", "loadtest.output_tokens",
		"test.scenario", "test_id", "testid", "test.run.id", "run.id", "http.response.status_code", "http.status_code", "rpc.grpc.status_code",
		"rpc.response.status_code", "error.type", "http.request.resend_count", "http.resend_count", "service.name",
		"service.namespace", "service.instance.id", "host.name", "process.pid", "gen_ai.response.time_to_first_chunk",
		"gen_ai.latency.time_to_first_token", "gen_ai.server.time_to_first_token", "gen_ai.client.operation.time_to_first_chunk",
		"response.time.ms", "SampleRate", "sampling.probability", "sampler.param",
		"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "llm.token_count.completion",
		"gen_ai.operation.name", "gen_ai.latency.time_in_queue", "gen_ai.latency.e2e",
	}
}

// FirstByteEvent reports whether a span event of this name marks the first byte
// of the answer.
func FirstByteEvent(name []byte) bool {
	switch string(name) {
	case "http.receive.start", "gen_ai.first_token", "first_token":
		return true
	}
	return false
}

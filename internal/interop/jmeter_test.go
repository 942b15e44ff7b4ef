package interop

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// property writes a property of a test plan.
func property(kind, name, value string) string {
	return "<" + kind + ` name="` + name + `">` + value + "</" + kind + ">"
}

// listener writes a backend listener of a test plan.
func listener(class string, arguments ...string) string {
	const pkg = "org.apache.jmeter.visualizers.backend.influxdb."
	var args strings.Builder
	arguments = append(arguments, "influxdbMetricsSender", pkg+"HttpMetricsSender", "influxdbToken", "", "measurement", "jmeter")
	for i := 0; i < len(arguments); i += 2 {
		args.WriteString(`<elementProp name="` + arguments[i] + `" elementType="Argument">` +
			property("stringProp", "Argument.name", arguments[i]) + property("stringProp", "Argument.value", arguments[i+1]) +
			property("stringProp", "Argument.metadata", "=") + `</elementProp>`)
	}
	return `<BackendListener guiclass="BackendListenerGui" testclass="BackendListener" testname="` + class + `">` +
		`<elementProp name="arguments" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments">` +
		`<collectionProp name="Arguments.arguments">` + args.String() + `</collectionProp></elementProp>` +
		property("stringProp", "classname", pkg+class) + `</BackendListener><hashTree/>`
}

// Thread groups of a test plan.
func closedGroup() string {
	return `<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="shoppers">` +
		property("stringProp", "ThreadGroup.num_threads", "10") + property("stringProp", "ThreadGroup.ramp_time", "0") +
		property("boolProp", "ThreadGroup.scheduler", "true") + property("stringProp", "ThreadGroup.duration", "10") +
		property("stringProp", "ThreadGroup.on_sample_error", "continue") +
		`<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController">` +
		property("stringProp", "LoopController.loops", "-1") + property("boolProp", "LoopController.continue_forever", "false") +
		`</elementProp></ThreadGroup>`
}

func openGroup() string {
	return `<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="shoppers">` +
		`<elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController" ` +
		`guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroupController"/>` +
		property("stringProp", "OpenModelThreadGroup.schedule", "rate(40/s) even_arrivals(10 s) pause(3 s)") +
		property("stringProp", "OpenModelThreadGroup.random_seed", "") + property("stringProp", "ThreadGroup.on_sample_error", "continue") +
		`</OpenModelThreadGroup>`
}

// plan writes a test plan: a thread group that places orders, and listeners.
func plan(port, group string, listeners ...string) string {
	const arguments = `<collectionProp name="Arguments.arguments"/>`
	return `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="orders">` +
		`<elementProp name="TestPlan.user_defined_variables" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments">` +
		arguments + `</elementProp></TestPlan><hashTree>` + group + `<hashTree>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="POST /orders">` +
		`<elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments">` +
		arguments + `</elementProp>` +
		property("stringProp", "HTTPSampler.domain", "127.0.0.1") + property("stringProp", "HTTPSampler.port", port) +
		property("stringProp", "HTTPSampler.protocol", "http") + property("stringProp", "HTTPSampler.path", "/orders") +
		property("stringProp", "HTTPSampler.method", "POST") + property("boolProp", "HTTPSampler.use_keepalive", "true") +
		property("stringProp", "HTTPSampler.implementation", "Java") + `</HTTPSamplerProxy><hashTree/>` +
		strings.Join(listeners, "") + `</hashTree></hashTree></hashTree></jmeterTestPlan>`
}

// runJMeter runs a test plan and returns the path of its log.
func runJMeter(t *testing.T, dir, plan string) (log string) {
	t.Helper()
	java := tool(t, "java")
	folder := filepath.Dir(tool(t, "jmeter", "jmeter/lib"))
	test := write(t, dir, "orders.jmx", plan)
	log = filepath.Join(dir, "results.jtl")
	(&command{dir: dir, args: []string{
		java, "-Xmx512m", "-Djmeter.home=" + folder + "/home", "-cp", folder + "/lib/*", "org.apache.jmeter.NewDriver",
		"-n", "-t", test, "-l", log, "-j", filepath.Join(dir, "jmeter.log"),
		// A listener gives samples up that wait longer for one of its two connections.
		"-Jbackend_influxdb.connection_request_timeout=30000", "-Jbackend_influxdb.socket_timeout=30000",
	}}).run(t)
	return log
}

// TestJMeterOpen imports the log of an Open Model Thread Group, whose threads are
// numbered by its schedule (grade B). A cold JMeter starts the first of them late
// and in a burst, so the schedule is stated, and the class is not looked at.
func TestJMeterOpen(t *testing.T) {
	t.Parallel()
	tool(t, "jmeter", "jmeter/lib")
	svc, srv := newService(t), startServer(t)
	srv.load("orders", runJMeter(t, srv.dir, plan(svc.port(), openGroup())), "--schedule", "constant:40/s x 10s")
	v, _ := srv.verdict("orders")
	want := expect{generator: "jmeter", grade: "B", loop: "open", sent: svc.arrived.Load()}
	want.check(t, v)
}

// TestJMeter sends the same test through both of JMeter's backend listeners and
// imports its log.
func TestJMeter(t *testing.T) {
	t.Parallel()
	tool(t, "jmeter", "jmeter/lib")
	svc, srv := newService(t), startServer(t)
	log := runJMeter(t, srv.dir, plan(svc.port(), closedGroup(),
		listener("InfluxDBRawBackendListenerClient", "influxdbUrl", "http://"+srv.api+"/write?db=jmeter&amp;run=raw"),
		listener("InfluxdbBackendListenerClient", "influxdbUrl", "http://"+srv.api+"/api/v2/write?org=shop&amp;bucket=jmeter&amp;run=sums",
			"application", "orders app", "summaryOnly", "false", "samplersRegex", ".*", "percentiles", "99", "testTitle", "orders")))
	srv.load("log", log)
	for _, run := range []string{"raw", "log", "sums"} {
		v, code := srv.verdict(run, "p95<300ms")
		if code != 4 {
			t.Errorf("%s: check exits %d: a closed loop cannot answer", run, code)
		}
		want := expect{generator: "jmeter", grade: "S", loop: "closed", outcome: wire.OutcomeInconclusive, sent: svc.arrived.Load(), slack: 2}
		if run == "sums" {
			want.grade, want.loop = "F", ""
		}
		want.check(t, v)
		if run != "sums" {
			closed(t, v)
		}
	}
}

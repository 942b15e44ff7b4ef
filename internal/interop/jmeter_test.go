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

// plan writes a test plan: ten threads that place orders for ten seconds.
func plan(port, api string) string {
	const arguments = `<collectionProp name="Arguments.arguments"/>`
	return `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="orders">` +
		`<elementProp name="TestPlan.user_defined_variables" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments">` +
		arguments + `</elementProp></TestPlan><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="shoppers">` +
		property("stringProp", "ThreadGroup.num_threads", "10") + property("stringProp", "ThreadGroup.ramp_time", "0") +
		property("boolProp", "ThreadGroup.scheduler", "true") + property("stringProp", "ThreadGroup.duration", "10") +
		property("stringProp", "ThreadGroup.on_sample_error", "continue") +
		`<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController">` +
		property("stringProp", "LoopController.loops", "-1") + property("boolProp", "LoopController.continue_forever", "false") +
		`</elementProp></ThreadGroup><hashTree>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="POST /orders">` +
		`<elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments">` +
		arguments + `</elementProp>` +
		property("stringProp", "HTTPSampler.domain", "127.0.0.1") + property("stringProp", "HTTPSampler.port", port) +
		property("stringProp", "HTTPSampler.protocol", "http") + property("stringProp", "HTTPSampler.path", "/orders") +
		property("stringProp", "HTTPSampler.method", "POST") + property("boolProp", "HTTPSampler.use_keepalive", "true") +
		property("stringProp", "HTTPSampler.implementation", "Java") + `</HTTPSamplerProxy><hashTree/>` +
		listener("InfluxDBRawBackendListenerClient", "influxdbUrl", "http://"+api+"/write?db=jmeter&amp;run=raw") +
		listener("InfluxdbBackendListenerClient", "influxdbUrl", "http://"+api+"/api/v2/write?org=shop&amp;bucket=jmeter&amp;run=sums",
			"application", "orders app", "summaryOnly", "false", "samplersRegex", ".*", "percentiles", "99", "testTitle", "orders") +
		`</hashTree></hashTree></hashTree></jmeterTestPlan>`
}

// TestJMeter sends the same test through both of JMeter's backend listeners and
// imports its log.
func TestJMeter(t *testing.T) {
	t.Parallel()
	java := tool(t, "java")
	folder := filepath.Dir(tool(t, "jmeter", "jmeter/lib"))
	svc, srv := newService(t), startServer(t)
	test := write(t, srv.dir, "orders.jmx", plan(svc.port(), srv.api))
	log := filepath.Join(srv.dir, "results.jtl")
	(&command{dir: srv.dir, args: []string{
		java, "-Xmx512m", "-Djmeter.home=" + folder + "/home", "-cp", folder + "/lib/*", "org.apache.jmeter.NewDriver",
		"-n", "-t", test, "-l", log, "-j", filepath.Join(srv.dir, "jmeter.log"),
	}}).run(t)
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

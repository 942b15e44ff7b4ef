// Package outward sends what Plimsoll concludes to whoever collects telemetry
// over OTLP: the state of runs as metrics, alerts and verdicts as log records, so
// that they land in the store that people already have.
//
// It is configured by the environment variables of the OpenTelemetry SDK and off
// without them: OTEL_EXPORTER_OTLP_ENDPOINT (or those of one signal),
// OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_HEADERS and so on;
// OTEL_METRICS_EXPORTER=none and OTEL_LOGS_EXPORTER=none turn one signal off.
package outward

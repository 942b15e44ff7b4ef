// Package queues tells which metrics of servers say something about queues, and
// what: how many wait, how many are being served, how long the waiting have
// waited, how full a pool is.
//
// It knows the names of the OpenTelemetry semantic conventions (old and new), of
// common servers and of their Prometheus and collector forms: with dots or
// underscores, with or without unit suffixes and "_total". A name that it knows
// must also have the shape that the name promises: a depth is a gauge, a time
// spent waiting is a distribution or a sum of seconds. Names that look like
// queues and are not (idle connections that "wait", threads that exist, queues
// of telemetry) stay out. What a mapping file gives a role comes before every
// name (sample.WithRole).
//
// Nothing is judged here. Recognise is a pure function of a series' identity; it
// costs about a microsecond, so that readers of many points ask once per series.
package queues

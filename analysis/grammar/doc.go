// Package grammar reads and writes the small languages that people type:
// schedules ("constant:100/s x 60s, pause x 10s"), objectives ("p99<300ms") and
// deadlines ("2s", "ttft:500ms,e2e:5s").
//
// Reading is strict: what is not understood is an error that says what is
// allowed, and nothing is guessed. What is read can be written again and reads
// the same. Inputs are bounded, so hostile text costs little.
//
//	schedule  = item { "," item }
//	item      = [ name "=" ] process ":" rate [ ".." rate ] "x" duration  |  "pause" "x" duration
//	process   = "constant" | "poisson" | "jittered" | "bursty" | "ramp"
//	rate      = number "/" ( "s" | "m" | "h" )
//	objective = [ "scenario:" name ] [ "step:" name ] term
//	term      = quantile "<" duration | "error" "<" ratio | "goodput" ">=" ratio | "carry" ">=" rate
//	deadline  = duration  |  part { "," part }
//	part      = ( "ttft" | "e2e" ) ":" duration
//	quantile  = "p50" | "p99" | "p99.9" | "p999" | …
//	ratio     = number [ "%" ]
//
// "<" and "<=" mean the same, and so do ">" and ">=": a limit that is met
// exactly is met. Durations are Go's ("300ms", "1m30s").
package grammar

// Package demo is a load test in one call, for seeing within a minute what the
// analysis is for: it starts a small order service that carries 100 requests a
// second, pushes it past that with an open-loop generator, comes back to a rate
// that the service had carried before, and sends all of it over OTLP.
//
// As it is commonly built, the service does not recover: it works through orders
// whose clients have gone, and their retries keep it there. With Fixed it sheds
// the excess during the push and is well again as soon as the rate is back.
//
// During the same minute an ordinary closed-loop generator is asked for the same
// rates against a second instance of the service. What it reports, uncorrected,
// is returned for comparison and is not sent anywhere.
//
// All sockets are on loopback, and a run is bounded in time. A demonstration
// runs in real time, so the packages below demo read the clock; only names and
// time stamps that people see come from Config.Now.
package demo

// Package api serves the HTTP API of Plimsoll: the list of runs, what is
// declared of them, and every judgement of them as JSON.
//
// It decides nothing about runs. What is kept of them comes from a Runs, what
// it proves from an Analysis; both are interfaces declared here and satisfied
// elsewhere. The package adds what a network needs: strict parameters, bounds
// on bodies, streams and work at once, one shape for every error, a token, and
// a small memory of answers, so that a panel that asks every five seconds costs
// one judgement per revision and not one per question.
//
// The OpenAPI document (openapi.yaml, served at /api/v1/openapi.yaml) is the
// reference; a test holds it against the routes and the golden answers.
package api

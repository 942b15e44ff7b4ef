package influx

import (
	"encoding/json"
	"net/http"
	"strings"
)

// api is a version of InfluxDB's API; the versions differ in how they say that
// something failed.
type api int

const (
	v1 api = 1
	v2 api = 2
)

// dropped is the status of an answer when lines were understood and not kept.
func (a api) dropped() int {
	if a == v2 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusBadRequest
}

// fail answers as InfluxDB does. Line is the first one that is wrong, 0 for
// none.
func (a api) fail(w http.ResponseWriter, status int, message string, line int64) {
	body := map[string]any{"error": message}
	if a == v2 {
		body = map[string]any{"code": code(status), "message": message}
	}
	if line > 0 {
		body["line"] = line
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	if a == v1 {
		header.Set("X-Influxdb-Error", strings.Map(inHeader, message[:min(len(message), 500)]))
	} else {
		header.Set("X-Platform-Error-Code", code(status))
	}
	w.WriteHeader(status)
	// The sender has gone if this fails; there is nobody left to tell.
	_ = json.NewEncoder(w).Encode(body)
}

// inHeader replaces what may not stand in a header.
func inHeader(r rune) rune {
	if r < ' ' || r > '~' {
		return ' '
	}
	return r
}

// code is the name that version 2 gives to a kind of failure.
func code(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized" //nolint:misspell // InfluxDB's word
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusMethodNotAllowed:
		return "method not allowed"
	case http.StatusRequestEntityTooLarge:
		return "request too large"
	case http.StatusUnprocessableEntity:
		return "unprocessable entity"
	case http.StatusTooManyRequests:
		return "too many requests"
	case http.StatusServiceUnavailable:
		return "unavailable"
	}
	return "invalid"
}

package convention

import (
	"bytes"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// maxFailureText bounds how much of an error text is read.
const maxFailureText = 1024

// Failure classifies the text or type name of an error of a client: a time-out
// or a cancellation. It returns false for anything else, which is an error.
//
// Addresses and quoted text are passed over, because a host or path named
// "timeout" says nothing. A time-out is looked for first: Go and .NET report
// their own time-outs as cancelled requests.
func Failure(text []byte) (sample.Outcome, bool) {
	if len(text) == 0 {
		return sample.Error, false
	}
	var buf [maxFailureText]byte
	s := plain(buf[:0], text)
	for _, w := range [...]string{
		"timeout", "timed out", "timedout", "time-out",
		"deadline exceeded", "deadlineexceeded", "deadline has elapsed", "deadline_exceeded",
	} {
		if contains(s, w) {
			return sample.Timeout, true
		}
	}
	for _, w := range [...]string{
		"canceled", "cancelled", "cancellation", "cancelederror", "cancellederror", "canceledexception",
		"aborterror", "user aborted", "operation was aborted",
	} {
		if contains(s, w) {
			return sample.Cancelled, true
		}
	}
	return sample.Error, false
}

// Exhausted reports whether the text of an error says that the client itself had
// run out of ports, sockets or files, so that the attempt never left it.
func Exhausted(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	var buf [maxFailureText]byte
	s := plain(buf[:0], text)
	for _, w := range [...]string{
		"cannot assign requested address", "can't assign requested address", "eaddrnotavail", "address not available",
		"too many open files", "emfile", "enfile", "only one usage of each socket address", "no buffer space available", "enobufs",
	} {
		if contains(s, w) {
			return true
		}
	}
	return false
}

// notReached reports whether the message of an UNAVAILABLE call is that of a
// client which got no answer, rather than of a server that refused.
func notReached(message []byte) bool {
	var buf [maxFailureText]byte
	s := plain(buf[:0], message)
	for _, w := range [...]string{
		"connection refused", "connection reset", "connection error", "connection closed", "connection is closed",
		"connection is closing", "transport", "error reading from server", "no such host", "name resol", "dns",
		"failed to connect", "io exception", "broken pipe", "handshake", "unreachable", "eof", "dial ", "socket closed",
		"goaway", "rst_stream",
	} {
		if contains(s, w) {
			return true
		}
	}
	return false
}

func contains(s []byte, w string) bool {
	// The conversion does not escape, so it does not allocate.
	return bytes.Contains(s, []byte(w))
}

// plain appends text in lower case, without quoted parts and addresses.
func plain(dst, text []byte) []byte {
	quoted, address := false, false
	for i := 0; i < len(text) && len(dst) < maxFailureText; i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted, address = !quoted && bytes.IndexByte(text[i+1:], '"') >= 0, false
			continue
		case quoted:
			continue
		case c == ' ' || c == ',' || c == ')' || c == '\n':
			address = false
		case address:
			continue
		case c == ':' && bytes.HasPrefix(text[i:], []byte("://")):
			address = true
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

package importer

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// errTime says that a text is no time.
var errTime = errors.New("malformed time")

// clock parses times in RFC 3339, remembering the day it saw last. The zero
// value is ready for use.
type clock struct {
	day  [10]byte
	base int64 // of the day, ns
}

// parse reads "2006-01-02T15:04:05.999999999Z", with any number of decimals and
// any offset from UTC.
func (c *clock) parse(b []byte) (int64, error) {
	if len(b) < 20 || b[10] != 'T' && b[10] != 't' && b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return 0, fmt.Errorf("%w %q", errTime, trimmed(b))
	}
	if [10]byte(b[:10]) != c.day {
		t, err := time.Parse(time.DateOnly, string(b[:10]))
		if err != nil || t.Year() < 1970 || t.Year() > 2200 {
			return 0, fmt.Errorf("%w %q", errTime, trimmed(b))
		}
		c.day, c.base = [10]byte(b[:10]), t.UnixNano()
	}
	h, m, s := two(b[11:]), two(b[14:]), two(b[17:])
	if h < 0 || m < 0 || s < 0 || h > 23 || m > 59 || s > 60 {
		return 0, fmt.Errorf("%w %q", errTime, trimmed(b))
	}
	ns := (h*3600 + m*60 + s) * int64(time.Second)
	i := 19
	if b[i] == '.' || b[i] == ',' {
		unit := int64(time.Second / 10)
		for i++; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			ns += int64(b[i]-'0') * unit
			unit /= 10
		}
	}
	off, ok := offset(b[i:])
	if !ok {
		return 0, fmt.Errorf("%w %q", errTime, trimmed(b))
	}
	return c.base + ns - off, nil
}

// offset reads "Z" or "+hh:mm".
func offset(b []byte) (int64, bool) {
	if len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	if len(b) != 6 || b[0] != '+' && b[0] != '-' || b[3] != ':' {
		return 0, false
	}
	h, m := two(b[1:]), two(b[4:])
	if h < 0 || m < 0 || h > 23 || m > 59 {
		return 0, false
	}
	off := (h*60 + m) * int64(time.Minute)
	if b[0] == '-' {
		off = -off
	}
	return off, true
}

// two reads two digits, or returns -1.
func two(b []byte) int64 {
	if b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return -1
	}
	return int64(b[0]-'0')*10 + int64(b[1]-'0')
}

func trimmed(b []byte) []byte { return b[:min(len(b), 40)] }

// millis converts milliseconds, bounded so that sums of times cannot overflow.
func millis(ms float64) int64 {
	const most = 100 * 365 * 24 * 3600 * 1e3
	if math.IsNaN(ms) {
		return 0
	}
	return int64(math.Round(min(max(ms, -most), most) * 1e6))
}

// epoch converts a number of seconds, milli-, micro- or nanoseconds since 1970,
// told apart by size, to nanoseconds. Unit is what one of them is.
func epoch(v int64) (ns, unit int64) {
	switch {
	case v < 0:
		return 0, 1
	case v < 1e11:
		return v * 1e9, 1e9
	case v < 1e14:
		return v * 1e6, 1e6
	case v < 1e17:
		return v * 1e3, 1e3
	}
	return v, 1
}

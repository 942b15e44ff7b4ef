package importer

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// errNumber says that a text is no number, or too large for a time.
var errNumber = errors.New("malformed number")

// mostTime bounds times and durations, in ns, so that sums cannot overflow.
const mostTime = int64(1) << 62

// decimal reads a decimal number and returns it in parts of unit, exact as far as
// the parts go: "0.1442" with unit 1e9 is 144200000.
func decimal(b []byte, unit int64) (int64, error) {
	i, negative := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative, i = b[0] == '-', 1
	}
	var whole int64
	digits := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if whole > mostTime/unit/10 {
			return 0, fmt.Errorf("%w %q", errNumber, trimmed(b))
		}
		whole = whole*10 + int64(b[i]-'0')
		digits++
	}
	v, part := whole*unit, unit
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			part /= 10
			v += int64(b[i]-'0') * part
			digits++
		}
	}
	if digits == 0 || i < len(b) {
		return inexact(b, unit)
	}
	if negative {
		v = -v
	}
	return v, nil
}

// inexact reads what decimal cannot, such as exponents.
func inexact(b []byte, unit int64) (int64, error) {
	f, err := strconv.ParseFloat(view(b), 64)
	if f *= float64(unit); err != nil || math.IsNaN(f) || math.Abs(f) > float64(mostTime) {
		return 0, fmt.Errorf("%w %q", errNumber, trimmed(b))
	}
	return int64(math.Round(f)), nil
}

// nanos converts seconds, bounded like millis.
func nanos(s float64) int64 { return millis(s * 1e3) }

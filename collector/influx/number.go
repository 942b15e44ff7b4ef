package influx

import (
	"math"
	"strconv"
)

// checkValue reports what is wrong with the value of a field.
func checkValue(v []byte) error {
	switch c := v[0]; {
	case c == '"':
		return nil
	case c >= '0' && c <= '9', c == '-', c == '.':
		if _, ok := number(v); !ok {
			return errNumber
		}
		return nil
	}
	if _, ok := boolean(v); !ok {
		return errBoolean
	}
	return nil
}

// number reads a float, an integer (42i) or an unsigned integer (42u).
func number(v []byte) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	switch v[len(v)-1] {
	case 'i':
		n, ok := integer(v[:len(v)-1])
		return float64(n), ok
	case 'u':
		n, err := strconv.ParseUint(string(v[:len(v)-1]), 10, 64)
		return float64(n), err == nil
	}
	if f, ok := decimal(v); ok {
		return f, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || hexadecimal(v) {
		return 0, false
	}
	return f, true
}

// decimal reads plain decimals of up to 15 digits, which are exact as a quotient
// of two exact floats; it leaves anything else to strconv.
func decimal(v []byte) (float64, bool) {
	i, minus := 0, false
	if v[0] == '-' {
		i, minus = 1, true
	}
	if len(v)-i > 16 || i == len(v) {
		return 0, false
	}
	var n int64
	point, digits := -1, 0
	for ; i < len(v); i++ {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
			digits++
		case c == '.' && point < 0:
			point = digits
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > 15 {
		return 0, false
	}
	f := float64(n)
	if point >= 0 {
		f /= powerOfTen(digits - point)
	}
	if minus {
		f = -f
	}
	return f, true
}

func powerOfTen(n int) float64 {
	p := 1.0
	for range n {
		p *= 10 // exact up to 10^22
	}
	return p
}

// hexadecimal reports digits that strconv reads and line protocol does not.
func hexadecimal(v []byte) bool {
	for _, c := range v {
		if c == 'x' || c == 'X' || c == '_' || c == 'p' || c == 'P' {
			return true
		}
	}
	return false
}

// integer reads a whole number with an optional sign.
func integer(v []byte) (int64, bool) {
	i, minus := 0, false
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		i, minus = 1, v[0] == '-'
	}
	if i == len(v) || len(v)-i > 19 {
		return 0, false
	}
	var n uint64
	for ; i < len(v); i++ {
		c := v[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	switch {
	case minus && n <= 1<<63:
		return -int64(n), true
	case !minus && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}

// boolean reads the words that line protocol has for true and false.
func boolean(v []byte) (value, ok bool) {
	switch string(v) {
	case "t", "T", "true", "True", "TRUE":
		return true, true
	case "f", "F", "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

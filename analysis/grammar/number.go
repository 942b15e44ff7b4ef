package grammar

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of what is read. They are far beyond any real test and keep sums finite.
const (
	maxLength   = 64 << 10
	maxSteps    = 10_000
	maxRate     = 1e9
	maxDuration = 366 * 24 * time.Hour
)

// parseRate reads "450/s", "27000/m" or "90/h" and returns it per second.
func parseRate(text string) (float64, error) {
	number, unit, ok := strings.Cut(text, "/")
	if !ok {
		return 0, fmt.Errorf("rate %q has no unit: write it like 100/s (or /m, /h)", text)
	}
	v, err := parseNumber(number)
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w", text, err)
	}
	switch strings.TrimSpace(unit) {
	case "s":
	case "m", "min":
		v /= 60
	case "h":
		v /= 3600
	default:
		return 0, fmt.Errorf("rate %q has the unknown unit %q: use /s, /m or /h", text, unit)
	}
	if v < 0 || v > maxRate {
		return 0, fmt.Errorf("rate %q is not within 0 and %g/s", text, float64(maxRate))
	}
	return v, nil
}

// parseDuration reads a positive Go duration.
func parseDuration(text string) (float64, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	switch {
	case err != nil:
		return 0, fmt.Errorf("duration %q is not understood: write it like 300ms, 2s or 1m30s", text)
	case d <= 0 || d > maxDuration:
		return 0, fmt.Errorf("duration %q is not within 1ns and %s", text, maxDuration)
	}
	return d.Seconds(), nil
}

// parseRatio reads "1%" or "0.01" and returns a share within 0 and 1.
func parseRatio(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := parseNumber(number)
	if err != nil {
		return 0, fmt.Errorf("ratio %q: %w", text, err)
	}
	if percent {
		v /= 100
	}
	if v < 0 || v > 1 {
		return 0, fmt.Errorf("ratio %q is not within 0 and 100%%", text)
	}
	return v, nil
}

// parseNumber reads a plain decimal number; hexadecimal, signs, underscores
// and words such as "inf" are not numbers that people mean here.
func parseNumber(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" || strings.ContainsAny(text[:1], "+-eE") {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, nil
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formatDuration writes seconds so that parseDuration reads the same value
// back, to the nanosecond.
func formatDuration(s float64) string {
	return time.Duration(math.Round(s * float64(time.Second))).String()
}

// parseName accepts what can stand in a name without quotes.
func parseName(text string) (string, error) {
	for _, r := range text {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(",=<>\"'", r) || r == '\uFFFD' {
			return "", fmt.Errorf("name %q may not hold spaces, quotes, commas, = < or >", text)
		}
	}
	if text == "" {
		return "", fmt.Errorf("a name is empty")
	}
	return text, nil
}

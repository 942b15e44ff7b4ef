package grammar

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

const objectiveHelp = "allowed are 'p99<300ms', 'error<1%', 'goodput>=99%' and 'carry>=450/s', " +
	"each after an optional 'scenario:NAME' and 'step:NAME'"

// ParseObjective reads one objective.
func ParseObjective(text string) (wire.Objective, error) {
	o, err := parseObjective(text)
	if err != nil {
		return wire.Objective{}, fmt.Errorf("parse objective %s: %w", strconv.Quote(shorten(text)), err)
	}
	return o, nil
}

func parseObjective(text string) (wire.Objective, error) {
	var o wire.Objective
	if len(text) > maxLength {
		return o, fmt.Errorf("longer than %d bytes", maxLength)
	}
	rest, err := scope(&o, strings.TrimSpace(text))
	if err != nil {
		return o, err
	}
	at := strings.IndexAny(rest, "<>")
	if at < 0 {
		return o, fmt.Errorf("it compares nothing; %s", objectiveHelp)
	}
	subject, less := strings.TrimSpace(rest[:at]), rest[at] == '<'
	limit := strings.TrimSpace(strings.TrimPrefix(rest[at+1:], "="))
	return o, term(&o, subject, less, limit)
}

// scope reads the prefixes that narrow the objective and returns the rest.
func scope(o *wire.Objective, text string) (string, error) {
	for {
		kind, rest, ok := strings.Cut(text, ":")
		var to *string
		switch {
		case ok && kind == "scenario":
			to = &o.Scenario
		case ok && kind == "step":
			to = &o.Step
		default:
			return text, nil
		}
		name, rest, ok := strings.Cut(rest, " ")
		if !ok {
			return "", fmt.Errorf("nothing follows %s:%s; %s", kind, name, objectiveHelp)
		}
		if *to != "" {
			return "", fmt.Errorf("%s is named twice", kind)
		}
		v, err := parseName(name)
		if err != nil {
			return "", err
		}
		*to, text = v, strings.TrimSpace(rest)
	}
}

func term(o *wire.Objective, subject string, less bool, limit string) error {
	var parse func(string) (float64, error)
	var to **float64
	wantLess := true
	switch {
	case subject == "error":
		parse, to = parseRatio, &o.ErrorRatioMax
	case subject == "goodput":
		parse, to, wantLess = parseRatio, &o.GoodputRatioMin, false
	case subject == "carry":
		parse, to, wantLess = parseRate, &o.MustCarryPerS, false
	case strings.HasPrefix(subject, "p"):
		q, err := parseQuantile(subject)
		if err != nil {
			return err
		}
		o.Quantile = &q
		parse, to = parseDuration, &o.MaxS
	default:
		return fmt.Errorf("%q cannot be promised; %s", subject, objectiveHelp)
	}
	if less != wantLess {
		return fmt.Errorf("%s is compared the wrong way round; %s", subject, objectiveHelp)
	}
	v, err := parse(limit)
	if err != nil {
		return err
	}
	if subject == "carry" && v == 0 {
		return fmt.Errorf("a rate of 0 promises nothing")
	}
	*to = &v
	return nil
}

// parseQuantile reads p50, p99, p99.9 and the short form p999 (which is p99.9).
func parseQuantile(text string) (float64, error) {
	bad := fmt.Errorf("%q is not a quantile: write p50, p95, p99, p99.9", text)
	whole, fraction, dotted := strings.Cut(strings.TrimPrefix(text, "p"), ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" || dotted && fraction == "" {
		return 0, bad
	}
	switch {
	case len(whole) == 1:
		whole = "0" + whole
	case len(whole) > 2 && (dotted || !strings.HasPrefix(whole, "99")):
		return 0, bad
	}
	q, err := strconv.ParseFloat("0."+whole+fraction, 64)
	if err != nil || q <= 0 || q >= 1 {
		return 0, bad
	}
	return q, nil
}

// FormatObjective writes an objective as ParseObjective reads it; the parts of
// an objective that promises several things at once are joined by " and ".
func FormatObjective(o *wire.Objective) string {
	var prefix string
	if o.Scenario != "" {
		prefix += "scenario:" + o.Scenario + " "
	}
	if o.Step != "" {
		prefix += "step:" + o.Step + " "
	}
	var terms []string
	if o.Quantile != nil && o.MaxS != nil {
		terms = append(terms, QuantileName(*o.Quantile)+"<"+formatDuration(*o.MaxS))
	}
	if o.ErrorRatioMax != nil {
		terms = append(terms, "error<"+formatNumber(*o.ErrorRatioMax))
	}
	if o.GoodputRatioMin != nil {
		terms = append(terms, "goodput>="+formatNumber(*o.GoodputRatioMin))
	}
	if o.MustCarryPerS != nil {
		terms = append(terms, "carry>="+formatNumber(*o.MustCarryPerS)+"/s")
	}
	return prefix + strings.Join(terms, " and ")
}

// QuantileName writes 0.5 as p50 and 0.999 as p99.9. Digits are moved, not
// multiplied, so that what is read back is the same number.
func QuantileName(q float64) string {
	_, digits, _ := strings.Cut(formatNumber(q), ".")
	for len(digits) < 2 {
		digits += "0"
	}
	name := "p" + digits[:2]
	if len(digits) > 2 {
		name += "." + digits[2:]
	}
	return name
}

func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

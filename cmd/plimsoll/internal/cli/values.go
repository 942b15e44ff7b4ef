package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// List is a flag that may be given several times. In the environment the
// values stand in one variable, separated by semicolons.
type List []string

// String implements flag.Value.
func (l *List) String() string { return strings.Join(*l, ";") }

// Set implements flag.Value.
func (l *List) Set(s string) error {
	for part := range strings.SplitSeq(s, ";") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// Duration is a duration that also knows days ("30d"), in flags and in YAML.
type Duration time.Duration

// String implements flag.Value.
func (d Duration) String() string {
	const day = 24 * time.Hour
	switch t := time.Duration(d); {
	case t == 0:
		return "0"
	case t%day == 0 && t > day:
		return strconv.Itoa(int(t/day)) + "d"
	default:
		text := t.String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(text, zero) {
				text = text[:len(text)-2]
			}
		}
		return text
	}
}

// Set implements flag.Value.
func (d *Duration) Set(s string) error {
	if s == "0" {
		*d = 0
		return nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n <= 36500) {
			return fmt.Errorf("%q is not a duration: write it like 300ms, 2s, 1h30m or 30d", s)
		}
		*d = Duration(n * 24 * float64(time.Hour))
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration: write it like 300ms, 2s, 1h30m or 30d", s)
	}
	*d = Duration(v)
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error { return fromYAML(n, d.Set) }

// Bytes is a number of bytes that knows units ("512MiB"), in flags and in YAML.
type Bytes int64

// units of bytes, the long names first.
func units() []struct {
	name string
	size float64
} {
	return []struct {
		name string
		size float64
	}{
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"TiB", 1 << 40},
		{"KB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"TB", 1e12},
		{"B", 1},
	}
}

// String implements flag.Value.
func (b Bytes) String() string {
	u := units()
	for i := 3; i >= 0; i-- {
		if size := Bytes(u[i].size); b >= size && b%size == 0 {
			return strconv.FormatInt(int64(b/size), 10) + u[i].name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Set implements flag.Value.
func (b *Bytes) Set(s string) error {
	number, size := strings.TrimSpace(s), 1.0
	for _, u := range units() {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, size = strings.TrimSpace(n), u.size
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || v*size > math.MaxInt64/2 || strings.Trim(number, "0123456789.") != "" {
		return fmt.Errorf("%q is not a number of bytes: write it like 4096, 512MiB or 10GB", s)
	}
	*b = Bytes(v * size)
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (b *Bytes) UnmarshalYAML(n *yaml.Node) error { return fromYAML(n, b.Set) }

// fromYAML sets a value from a scalar; the error names the line and does not
// hide others.
func fromYAML(n *yaml.Node, set func(string) error) error {
	if n.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: a single value is needed", n.Line)}}
	}
	if err := set(n.Value); err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", n.Line, err)}}
	}
	return nil
}

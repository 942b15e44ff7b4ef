package influx

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown writes a line so that it can be compared.
func shown(l *line) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", l.name)
	for _, p := range l.tags {
		fmt.Fprintf(&b, "|%s:%s", p.key, p.value)
	}
	for _, p := range l.fields {
		fmt.Fprintf(&b, "|%s=%s", p.key, p.value)
	}
	if l.timed {
		fmt.Fprintf(&b, "|@%d", l.at)
	}
	return b.String()
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, want string
		err      error
	}{
		{in: `cpu value=1`, want: `cpu|value=1`},
		{in: `cpu,host=a value=1i 1465839830100400200`, want: `cpu|host:a|value=1i|@1465839830100400200`},
		{in: `cpu,host=a,dc=b a=1,b="x y, z",c=t  5  `, want: `cpu|host:a|dc:b|a=1|b="x y, z"|c=t|@5`},
		{in: `c\,p\ u,ho\=st=a\ b\,c\=d va\ l=1`, want: `c,p u|ho=st:a b,c=d|va l=1`},
		{in: `path,dir=C:\temp\new v=1`, want: `path|dir:C:\temp\new|v=1`},
		{in: `a=b v=1`, want: `a=b|v=1`},
		{in: `m s="say \"hi\", a=b 7" -3`, want: `m|s="say \"hi\", a=b 7"|@-3`},
		{in: `m v=-1.5e3,w=.5,u=7u,f=F`, want: `m|v=-1.5e3|w=.5|u=7u|f=F`},
		{in: `,a=b v=1`, err: errNoMeasurement},
		{in: `m,=b v=1`, err: errNoTagKey},
		{in: `m,a v=1`, err: errNoTagValue},
		{in: `m,a= v=1`, err: errNoTagValue},
		{in: `m,a=b=c v=1`, err: errTagFormat},
		{in: `m`, err: errNoFields},
		{in: `m,a=b`, err: errNoFields},
		{in: `m =1`, err: errNoFieldKey},
		{in: `m v`, err: errNoFieldValue},
		{in: `m v=`, err: errNoFieldValue},
		{in: `m v=1,`, err: errNoFieldKey},
		{in: `m v="a"b`, err: errNoFieldValue},
		{in: `m v="a`, err: errQuotes},
		{in: `m v=1x`, err: errNumber},
		{in: `m v=NaN`, err: errBoolean},
		{in: `m v=1.2i`, err: errNumber},
		{in: `m v=0x10`, err: errNumber},
		{in: `m v=1e999`, err: errNumber},
		{in: `m v=yes`, err: errBoolean},
		{in: `m v=+1`, err: errBoolean},
		{in: `m v=1 5s`, err: errTime},
		{in: `m v=1 99999999999999999999`, err: errTime},
		{in: `m v="` + strings.Repeat("x", maxLine) + `"`, err: errLong},
	} {
		var l line
		err := l.parse(endsOf(), []byte(c.in))
		if !errors.Is(err, c.err) {
			t.Errorf("%.60s: error %v, want %v", c.in, err, c.err)
		}
		if got := shown(&l); err == nil && got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"a v=1\nb v=2\r\n\nc v=3", []string{"a v=1", "b v=2", "", "c v=3"}},
		{"a v=\"x\ny\" 1\nb v=2\n", []string{"a v=\"x\ny\" 1", "b v=2"}},
		{"a v=\"x\\\"\ny\" 1\nb v=2\n", []string{"a v=\"x\\\"\ny\" 1", "b v=2"}},
		{"a v=\"x\nb v=2\n", []string{"a v=\"x", "b v=2"}},
		{"a\"b,t=\"q v=1\nb v=2\n", []string{"a\"b,t=\"q v=1", "b v=2"}},
		{"a,t=\" v=1\nb v=2\n", []string{"a,t=\" v=1", "b v=2"}},
	} {
		var got []string
		for body := []byte(c.in); len(body) > 0; {
			var s []byte
			s, body = next(body)
			got = append(got, string(s))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q:\n%s", c.in, d)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]float64{
		"0": 0, "41.053240": 41.05324, "-2.5": -2.5, "123456789012345": 123456789012345, "0.000000000000001": 1e-15,
		"1234567890123456789": 1234567890123456789, "1e3": 1000, "7i": 7, "-7i": -7, "18446744073709551615u": 18446744073709551615,
	} {
		if got, ok := number([]byte(in)); !ok || got != want {
			t.Errorf("number(%q) = %v, %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "-", ".", "1.2.3", "--1", "1i2", "i", "-1u", "9223372036854775808i", "1_000", "inf"} {
		if got, ok := number([]byte(in)); ok {
			t.Errorf("number(%q) = %v", in, got)
		}
	}
}

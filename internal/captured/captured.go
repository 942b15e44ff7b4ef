// Package captured reads what real generators sent, for tests: export requests
// of OTLP in one file, compressed with gzip. A name that ends in .rawjson.gz holds
// JSON bodies one after another; any other protobuf messages, each after its
// length as a varint.
package captured

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// Gunzip returns the content of a compressed file.
func Gunzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Exports returns the requests in a captured file.
func Exports(t testing.TB, path string) (out [][]byte) {
	t.Helper()
	b := Gunzip(t, path)
	if strings.HasSuffix(path, ".rawjson.gz") {
		for d := json.NewDecoder(bytes.NewReader(b)); ; {
			var raw json.RawMessage
			if err := d.Decode(&raw); errors.Is(err, io.EOF) {
				return out
			} else if err != nil {
				t.Fatal(err)
			}
			out = append(out, raw)
		}
	}
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			t.Fatalf("%s: bad framing", path)
		}
		out = append(out, b[k:k+int(n)])
		b = b[k+int(n):]
	}
	return out
}

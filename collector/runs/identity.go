package runs

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Bounds of strings from outside, in bytes.
const (
	maxIDBytes   = 256
	maxNameBytes = 256
	maxSlugBytes = 40
)

// Prefixes of the names of journal streams.
const (
	runPrefix       = "run/"
	sourcePrefix    = "source/"
	telemetryPrefix = "telemetry/"
)

const (
	latest   = "latest"
	idLayout = "20060102T150405Z"
)

// checkID says what is wrong with an explicit run id, or returns "". Ids stand
// in addresses, log lines and pages, so nothing unprintable may be in them.
func checkID(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "run id is empty"
	case len(id) > maxIDBytes:
		return fmt.Sprintf("run id is longer than %d bytes", maxIDBytes)
	case id == latest || strings.HasPrefix(id, latest+":"):
		return `run id "latest" is reserved`
	case id == "." || id == "..":
		return "run id is a relative path"
	case !printable(id):
		return "run id has control or invisible characters"
	}
	return ""
}

// printable reports whether s is valid UTF-8 of visible characters and spaces.
func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// tidy makes a name from outside fit to show: bounded, and nothing unprintable.
func tidy(name string) string {
	if len(name) <= maxNameBytes && printable(name) {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, name)
	if len(clean) > maxNameBytes {
		clean = clean[:maxNameBytes]
		for !utf8.ValidString(clean) {
			clean = clean[:len(clean)-1]
		}
	}
	return clean
}

// sourceStream names the journal stream of a source. A source that is long or
// unprintable is told apart by a hash of the whole.
func sourceStream(source string) string {
	if clean := tidy(source); clean != source {
		return sourcePrefix + clean + fmt.Sprintf("#%016x", xxh3.HashString(source))
	}
	return sourcePrefix + source
}

// slug turns a source into the first part of the ids of its runs. It is the
// source itself where that is short and plain, else its leading word and a hash.
func slug(source string) string {
	word := strings.ToLower(source)
	if i := strings.IndexFunc(word, func(r rune) bool { return !plain(r) }); i >= 0 {
		word = word[:i]
	}
	if word != "" && word == source && len(word) <= maxSlugBytes && word == strings.Trim(word, "-._") {
		return word
	}
	if len(word) > maxSlugBytes-9 {
		word = word[:maxSlugBytes-9]
	}
	if word = strings.Trim(word, "-._"); word == "" {
		word = "run"
	}
	return fmt.Sprintf("%s-%08x", word, uint32(xxh3.HashString(source)))
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// sourceRunID names the run of a source that starts at the given time.
func sourceRunID(slug string, start int64) string {
	return slug + "-" + time.Unix(0, start).UTC().Format(idLayout)
}

// parseSourceRunID is the inverse of sourceRunID, to the second.
func parseSourceRunID(id string) (slug string, start int64, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i <= 0 {
		return "", 0, false
	}
	t, err := time.Parse(idLayout, id[i+1:])
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return "", 0, false
	}
	return id[:i], t.UnixNano(), true
}

package sample

import "strings"

// noteName names the series by which an importer keeps with the run what is to be
// known of its file; the text is an attribute.
const noteName = "loadtest.import.note"

// NoteOf is a series that carries a note of an import.
func NoteOf(text string) Series {
	return Series{Name: noteName, Kind: Gauge, Attributes: "text=" + strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`).Replace(text)}
}

// Note returns the text of a note of an import.
func (s *Series) Note() (text string, ok bool) {
	if s.Name != noteName {
		return "", false
	}
	for k, v := range Pairs(s.Attributes) {
		if k == "text" {
			return v, v != ""
		}
	}
	return "", false
}

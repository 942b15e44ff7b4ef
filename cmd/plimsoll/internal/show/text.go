package show

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text from outside harmless for a terminal and a log: whatever
// controls instead of showing becomes a replacement mark, and line breaks
// become spaces.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || hidden(r):
			return '\uFFFD'
		default:
			return r
		}
	}, s)
}

// hidden reports whether a rune is invisible or turns the direction of text, so
// that what is read differs from what is there.
func hidden(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Co, r)
}

// cut shortens text to a number of characters.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// joint stands for a space at which no line may break.
const joint = "\u00a0"

// together makes a text that wrap does not break.
func together(s string) string { return strings.ReplaceAll(s, " ", joint) }

// wrap breaks text into lines at spaces.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' }) {
		word = strings.ReplaceAll(word, joint, " ")
		for utf8.RuneCountInString(word) > width { // no line can hold it
			if line != "" {
				lines, line = append(lines, line), ""
			}
			r := []rune(word)
			lines, word = append(lines, string(r[:width])), string(r[width:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// columns aligns rows of cells, the first column and those named in left to the
// left and the others to the right, with two spaces between.
func columns(rows [][]string, left ...int) []string {
	width := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	isLeft := map[int]bool{0: true}
	for _, i := range left {
		isLeft[i] = true
	}
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if isLeft[i] {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// Text makes a single word or sentence from outside harmless.
func Text(s string) string { return clean(s) }

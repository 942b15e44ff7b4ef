package batch

// version is the first byte of every encoded batch. Any change of the form
// needs a new one, with the decoder of the old one kept.
const version = 1

// Bits of the mask that follows the version: columns and sections present.
const (
	hasGroup = 1 << iota
	hasFirstByte
	hasIntended
	hasIndex
	hasAttempt
	hasKey
	hasSelf
	hasOutcome
	hasStatus
	hasFlags
	bySent // the column of differences is Sent, not Done
	hasMetrics
	hasTokens
	maskEnd
)

// Presence of the values of an optional column.
const (
	everyRow = 1 // each row has one
	someRows = 2 // a bitmap says which rows have one
)

// Forms of a column of few values.
const (
	formRuns  = 1 // number of runs, then value and length of each
	formPack1 = 2 // dictionary of 2, one bit a row
	formPack2 = 3 // dictionary of up to 4, two bits a row
	formPack4 = 4 // dictionary of up to 16, four bits a row
	formRaw8  = 5 // one byte a row
	formRaw16 = 6 // two bytes a row
)

// chunkLen is the number of values that share a mode byte.
const chunkLen = 256

// A chunk's mode byte holds the signs of its values in the lowest bits and the
// unit above them.
const (
	signNone  = 0 // no value is negative
	signMixed = 1 // zigzag
	signAll   = 2 // no value is positive; they are written negated
	signBits  = 2
)

// unitOf returns the unit in nanoseconds for a unit code.
func unitOf(code byte) int64 {
	switch code {
	case 1:
		return 1_000
	case 2:
		return 1_000_000
	default:
		return 1
	}
}

const lastUnit = 2

// Bits of the mask that begins a group: fields that differ from the group
// before (the zero group before the first).
const (
	groupSource = 1 << iota
	groupGenerator
	groupScenario
	groupStep
	groupDeadline
	groupExpectedInterval
	groupRate
	groupModel
	groupProcess
	groupEnd
)

// Bits of the mask that begins a series, likewise.
const (
	seriesSource = 1 << iota
	seriesService
	seriesScope
	seriesName
	seriesAttributes
	seriesUnit
	seriesKind
	seriesEnd
)

// Bits of the byte that begins a distribution.
const (
	distMin = 1 << iota
	distMax
	distExponential
	distScale      // Scale, Offset and Zero follow
	distBounds     // bounds follow
	distSameBounds // the bounds of the distribution before
	distEnd
)

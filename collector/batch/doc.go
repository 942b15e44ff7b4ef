// Package batch is the binary form of sample.Batch: what the journal keeps for
// every acknowledged export request.
//
// The form is columnar. A version byte and a mask of the columns that are
// present come first, then the names and groups, the columns of the rows, and
// the metric series and points. A column that holds only its default is left
// out. Times are differences: the end (or the sending) of a row against the row
// before, everything else against a time of its own row, in chunks of 256
// values that state whether they are signed and in which unit (ns, µs, ms) they
// are exact. Columns of few values are runs or packed dictionary indices.
//
// It is lossless but for one thing: an empty slice comes back as nil. It holds
// no checksum; the journal's engine has its own. It interns nothing globally.
package batch

// Package importer reads the result files of load generators: it finds out
// which format a file has, reads it as a stream and hands the rows on in
// batches. A file of any size takes the same memory.
//
// Each format is one file of this package with one function that describes it
// (see Format) and one line in Formats. A format decides which records are the
// requests, when each was due, as far as the file can say, and what a reader of
// the verdict must know about the file (warnings) or could do to get better
// evidence (advice). It judges nothing.
//
// A last line that was cut off is a warning. Lines that cannot be read are
// counted, and named by line or offset; when there are too many of them the
// import fails with the first.
package importer

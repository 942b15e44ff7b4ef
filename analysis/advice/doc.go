// Package advice says what to set, on the generator or in the question, so that
// the next run of a test proves more: one environment variable, flag or line of
// configuration for each thing that the verdict could not know.
//
// It reads the verdict document alone. What comes first gains most: data that
// are missing, then a load that cannot answer, then the grade of the evidence,
// then precision, then the question. The options of generators that export
// counts come from analysis/counts; those of the others stand here. Each was
// read in the generator's own documentation or source.
package advice

package counts

// Options are what a generator can be told so that its data prove more; the
// first words of each are ready to copy. Empty ones do not exist.
type Options struct {
	Limit     string // the option that limits workers
	Interval  string // how to export more often
	Starts    string // how to get the start of every request
	Histogram string // how to get better buckets
}

// OptionsOf returns the options of a generator by the name that its runs have.
func OptionsOf(generator string) Options {
	g := known(generator)
	return Options{Limit: g.limit, Interval: g.interval, Starts: g.starts, Histogram: g.histogram}
}

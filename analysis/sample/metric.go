package sample

// Kind is the shape of a metric series.
type Kind uint8

// Kinds of series.
const (
	Gauge      Kind = iota // a value that holds at its time
	UpDown                 // cumulative sum that may fall (a level)
	Counter                // cumulative sum that only rises within a life (one start time)
	DeltaSum               // increments, each over (Start, Time]
	Histogram              // cumulative distribution within a life
	DeltaHisto             // distribution of the increments over (Start, Time]
)

// Series is the identity of a stream of metric points. It is comparable.
type Series struct {
	Source     string // identity of the resource
	Service    string // service.name, for display and for targets
	Scope      string // instrumentation scope
	Name       string // metric name as sent
	Attributes string // data point attributes, sorted, "k=v" joined by ","
	Unit       string // unit as sent
	Kind       Kind
}

// Point is one observation of a series. Points of one series with the same
// Start form a life; merging is union by Time, and on equal Time the larger
// value wins.
type Point struct {
	Series    uint32  // index into Batch.Series
	Start     int64   // start of the life or of the increment; 0 when unknown
	Time      int64   // when the value held
	Value     float64 // value of a gauge or sum; sum of the values of a distribution
	Histogram *Distribution
}

// Distribution is the body of a histogram point.
type Distribution struct {
	Count   uint64
	Min     float64   // NaN when not sent
	Max     float64   // NaN when not sent
	Bounds  []float64 // upper bounds of explicit buckets; nil for an exponential histogram
	Buckets []uint64  // counts; one more than Bounds, or the positive exponential buckets

	// The rest describes an exponential histogram: bucket i covers
	// (base^(Offset+i), base^(Offset+i+1)] with base = 2^(2^-Scale).
	Exponential bool
	Scale       int32
	Offset      int32
	Zero        uint64 // count at (or below the threshold of) zero
}

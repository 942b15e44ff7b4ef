package journal

// Receipt says what became of an export request that was accepted.
type Receipt struct {
	Duplicate bool   // the same bytes had been accepted before; nothing was kept twice
	Rejected  int64  // rows and points that were refused, for the reason in Message
	Message   string // for people; empty when nothing was refused
}

package wire

import "time"

// Imported is the answer of POST /api/v1/import: what was read of a file.
type Imported struct {
	Run       string     `json:"run"`
	Name      string     `json:"name"`
	Format    string     `json:"format"`
	Title     string     `json:"title"` // of the format, for people
	Rows      int64      `json:"rows"`  // requests, further attempts included
	Points    int64      `json:"points"`
	Dropped   float64    `json:"dropped"`
	Bad       int64      `json:"bad"` // records that could not be read
	StartedAt *time.Time `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Grade     string     `json:"grade"`     // of the weakest row, F without rows
	Duplicate bool       `json:"duplicate"` // all of it had been imported before
	Finished  bool       `json:"finished"`
	Warnings  []string   `json:"warnings"`
	Advice    []string   `json:"advice"` // what would give better evidence
}

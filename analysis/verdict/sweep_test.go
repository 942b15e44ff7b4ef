package verdict

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/knee"
)

// TestKneeInWords: no rate is said to be served in full and not.
func TestKneeInWords(t *testing.T) {
	t.Parallel()
	for want, full := range map[string]*float64{
		"The knee is at 90/s": nil,
		"The knee is at 90/s, the last rate that was served in full": new(90.001),
		"80/s was served in full and 90/s no longer (the knee)":      new(80.0),
	} {
		if got := kneeSentence(&knee.Result{Offered: new(90.0), ServedInFull: full}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

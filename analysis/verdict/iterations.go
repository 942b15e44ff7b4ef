package verdict

import (
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// iterations says what the rows are where an iteration of the generator's script
// sent several: requests of its own, or attempts that nothing joins.
func (j *judge) iterations() {
	if n := j.st.PerIteration; n > 1 {
		j.find("requests_per_iteration", wire.Info, n,
			"An iteration of the script sent %s requests on average, further attempts included: rates are of requests, and a dropped iteration counts as so many.", strconv.FormatFloat(n, 'g', 3, 64))
	}
}

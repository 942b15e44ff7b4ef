package daemon

import (
	"context"
	"io"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/importing"
)

// imports gives the API what it asks of imports.
type imports struct{ *importing.Importer }

// Import implements api.Importer.
func (i imports) Import(ctx context.Context, q api.ImportQuery, file io.Reader) (*wire.Imported, error) {
	out, err := i.Importer.Import(ctx, q, file)
	return out, translate(err)
}

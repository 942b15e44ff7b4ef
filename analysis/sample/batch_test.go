package sample

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestBatchKeepsRows appends, moves and drops rows and compares with a plain
// slice of rows, whichever optional columns the batch leaves out.
func TestBatchKeepsRows(t *testing.T) {
	t.Parallel()
	b := &Batch{}
	rapid.Check(t, func(t *rapid.T) {
		b.Reset()
		var want []Row
		optional := rapid.SliceOfN(rapid.Uint16Range(0, 1), 7, 7)
		add := func() {
			o := optional.Draw(t, "optional")
			r := Row{
				Group: uint16(len(want)), Sent: 5, Done: 6, Intended: 4, Outcome: Error, Status: 500,
				FirstByte: int64(o[0]), Index: int64(o[1]) - 1, Attempt: o[2], Key: uint64(o[3]), Self: uint64(o[4]), Flags: Flag(o[5]),
				Tokens: int64(o[6]),
			}
			b.Append(r)
			want = append(want, r)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) { add() },
			"plain": func(*rapid.T) {
				b.Append(Row{Sent: 1, Index: NoIndex})
				want = append(want, Row{Sent: 1, Index: NoIndex})
			},
			"move": func(t *rapid.T) {
				if len(want) == 0 {
					add()
				}
				to, from := rapid.IntRange(0, len(want)-1).Draw(t, "to"), rapid.IntRange(0, len(want)-1).Draw(t, "from")
				b.Move(to, from)
				want[to] = want[from]
			},
			"truncate": func(t *rapid.T) {
				n := rapid.IntRange(0, len(want)).Draw(t, "n")
				b.Truncate(n)
				want = want[:n]
			},
			"name": func(t *rapid.T) {
				if len(want) > 0 {
					i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
					b.SetSelf(i, 7)
					want[i].Self = 7
				}
			},
			"": func(t *rapid.T) {
				var got []Row
				for i := range b.Len() {
					got = append(got, b.Row(i))
					if b.SelfAt(i) != got[i].Self {
						t.Fatalf("SelfAt(%d) = %d, Row has %d", i, b.SelfAt(i), got[i].Self)
					}
				}
				if diff := cmp.Diff(append([]Row{}, want...), append([]Row{}, got...)); diff != "" {
					t.Fatalf("rows (-want +got):\n%s", diff)
				}
			},
		})
	})
}

// Package interop holds tests that run real load generators against a small
// real service on loopback and check what Plimsoll makes of what they send,
// through the ports and files that their users would use.
//
// They run on request alone (make interop, or go test -interop), since they take
// minutes and need the generators. A generator is looked for on the PATH and in
// the folder that -generators names, where .ci/generators installs it; a test whose
// generator is missing is skipped, unless -need names it.
package interop

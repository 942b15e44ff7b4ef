package sample

import "strings"

// rolePrefix begins the name of a series whose metric the user's mapping file
// gave a role.
const rolePrefix = "plimsoll.role."

// WithRole returns the name of a series whose metric plays a role that a mapping
// file gave it, so that the role is kept with the points. SplitRole is its
// inverse.
func WithRole(role, metric string) string {
	if role == "" {
		return metric
	}
	return rolePrefix + role + ":" + metric
}

// SplitRole returns the role that a mapping file gave the metric of a series, ""
// when it gave none, and the metric's name as it was sent.
func SplitRole(name string) (role, metric string) {
	rest, ok := strings.CutPrefix(name, rolePrefix)
	if !ok {
		return "", name
	}
	role, metric, ok = strings.Cut(rest, ":")
	if !ok {
		return "", name
	}
	return role, metric
}

package sample

import "testing"

func TestRoleIsKeptInTheName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ role, metric, name string }{
		{"", "orders.queue.depth", "orders.queue.depth"},
		{"queue", "orders.queue.depth", "plimsoll.role.queue:orders.queue.depth"},
		{"queue", "vllm:num_requests_waiting", "plimsoll.role.queue:vllm:num_requests_waiting"},
	} {
		if got := WithRole(c.role, c.metric); got != c.name {
			t.Errorf("WithRole(%q, %q) = %q, want %q", c.role, c.metric, got, c.name)
		}
		if role, metric := SplitRole(c.name); role != c.role || metric != c.metric {
			t.Errorf("SplitRole(%q) = %q, %q", c.name, role, metric)
		}
	}
	if role, metric := SplitRole("plimsoll.role.odd"); role != "" || metric != "plimsoll.role.odd" {
		t.Errorf("a name without a colon has role %q, metric %q", role, metric)
	}
}

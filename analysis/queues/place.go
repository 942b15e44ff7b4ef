package queues

import (
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// placeOf returns what tells queues of one name apart, from the attributes of a
// series.
func placeOf(attributes string) string {
	var parts [4]string
	n := 0
	for key, value := range sample.Pairs(attributes) {
		if value == "" || !places(normal(key)) {
			continue
		}
		parts[n] = value
		if n++; n == len(parts) {
			break
		}
	}
	return strings.Join(parts[:n], "/")
}

// places knows the attributes that name a queue, a pool or a partition.
func places(key string) bool {
	switch key {
	case "pool", "pool.name", "db.client.connection.pool.name", "db.client.connections.pool.name", "hikari.pool",
		"queue", "queue.name", "name", "executor", "database",
		"messaging.destination.name", "destination", "topic", "group", "consumergroup", "consumer.group", "partition",
		"envoy.cluster.name", "cluster.name", "proxy", "backend", "haproxy.proxy.name", "haproxy.service.name",
		"model", "model.name", "engine", "subscription.id", "stream.name", "consumer.name":
		return true
	}
	return false
}

// meets reports whether attributes meet a condition: "key=a|b" with the key as
// normal writes it asks for one of these values; "" asks for nothing.
func meets(condition, attributes string) bool {
	if condition == "" {
		return true
	}
	key, values, _ := strings.Cut(condition, "=")
	for k, v := range sample.Pairs(attributes) {
		if k = normal(k); k != key && !strings.HasSuffix(k, "."+key) {
			continue
		}
		for want := range strings.SplitSeq(values, "|") {
			if strings.EqualFold(v, want) {
				return true
			}
		}
	}
	return false
}

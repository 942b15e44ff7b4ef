// Package service is the demonstration's server under test: a small HTTP
// service that takes orders with a limited pool of slots, so that its capacity
// is known (slots / service time), and that can be built in two ways.
//
// The broken way is the common one: an unbounded queue, and every order is
// served even when its client has long gone. Pushed past its capacity, it spends
// its slots on orders that nobody waits for, and the clients' retries keep it
// there after the push. The fixed way bounds the queue and refuses the rest at
// once with 503 and Retry-After, and drops orders whose deadline passed while
// they waited.
//
// Serving takes real time (a timer stands for the work), so this package reads
// the clock; it listens on loopback only.
package service

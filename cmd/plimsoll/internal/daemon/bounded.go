package daemon

import (
	"net"
	"sync"
	"sync/atomic"
)

// bounded is a listener that holds so many connections and closes others at
// once, so that their senders know.
type bounded struct {
	net.Listener
	held    chan struct{} // one for each connection
	refused *atomic.Int64
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.held <- struct{}{}:
			return &boundedConn{Conn: c, release: sync.OnceFunc(func() { <-b.held })}, nil
		default:
			b.refused.Add(1)
			_ = c.Close()
		}
	}
}

type boundedConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

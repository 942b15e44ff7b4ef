package daemon

import (
	"net"
	"sync"
)

// bounded is a listener that holds so many connections; others wait in the
// backlog of the operating system until one is free.
type bounded struct {
	net.Listener
	held  chan struct{} // one for each connection
	ended chan struct{} // closed by Close
	once  sync.Once
}

func bound(l net.Listener, most int) net.Listener {
	return &bounded{Listener: l, held: make(chan struct{}, most), ended: make(chan struct{})}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.held <- struct{}{}:
	case <-b.ended:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.held
		return nil, err
	}
	return &boundedConn{Conn: c, release: sync.OnceFunc(func() { <-b.held })}, nil
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.ended) })
	return b.Listener.Close()
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

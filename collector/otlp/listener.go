package otlp

import (
	"net"
	"sync"
)

// limited closes connections beyond a number at once, rather than leaving them
// waiting.
type limited struct {
	net.Listener
	free    chan struct{}
	refused func()
}

// Accept returns the next connection that there is room for.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			return &limitedConn{Conn: c, done: sync.OnceFunc(func() { <-l.free })}, nil
		default:
			l.refused()
			_ = c.Close()
		}
	}
}

type limitedConn struct {
	net.Conn
	done func()
}

// Close closes the connection and makes room for another.
func (c *limitedConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}

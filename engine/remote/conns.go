package remote

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// conns are the connections of a client, which Close closes whatever they are used for.
type conns struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu     sync.Mutex
	closed bool
	open   map[*conn]struct{}
}

// conn is one of them.
type conn struct {
	net.Conn
	of *conns
}

// connect makes a connection. After close it is net.ErrClosed.
func (c *conns) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nil, c.refuse()
	}
	inner, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	made := &conn{inner, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		inner.Close()
		return nil, c.refuse()
	}
	c.open[made] = struct{}{}
	return made, nil
}

func (c *conns) refuse() error {
	return &net.OpError{Op: "dial", Err: fmt.Errorf("the client was closed: %w", net.ErrClosed)}
}

func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		conn.Conn.Close()
	}
	clear(c.open)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

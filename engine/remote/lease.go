package remote

import (
	"context"
	"errors"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// A lease tells the server from time to time that something is still wanted.
type lease struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// keepUsed calls renew three times in each idle time, until end or until there is nothing to renew any more. Other errors are
// for the next call to find.
func keepUsed(idle time.Duration, renew func(context.Context) error) *lease {
	ctx, cancel := context.WithCancel(context.Background())
	l := &lease{cancel, make(chan struct{})}
	go func() {
		defer close(l.done)
		if idle <= 0 {
			return
		}
		tick := time.NewTicker(max(idle/3, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := renew(ctx); errors.Is(err, engine.ErrNoSession) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return l
}

// end stops it and waits for a call that is under way.
func (l *lease) end() {
	l.cancel()
	<-l.done
}

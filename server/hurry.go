package server

import (
	"context"
	"time"
)

// leaveTime is how long a client may leave a message untaken when the session or snapshot that it is of is being closed.
const leaveTime = 2 * time.Second

// hurry bounds what is still sent when something is over: a close waits for the calls that are under way, and a client that
// does not read would hold it up for ever. What it returns ends the watch, and is to be called before the handler returns.
func hurry(ctx, over context.Context) (stop func()) {
	return whenOver(over, func() {
		if c := controllerOf(ctx); c != nil {
			_ = c.SetWriteDeadline(time.Now().Add(leaveTime)) // a transport without deadlines has none
		}
	})
}

// whenOver calls f when ctx ends before stop is called. Stop waits for an f that is under way: what belongs to a request is not
// to be used after its handler.
func whenOver(ctx context.Context, f func()) (stop func()) {
	done := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(done)
		f()
	})
	return func() {
		if !unhook() {
			<-done
		}
	}
}

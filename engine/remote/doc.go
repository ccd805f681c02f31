// Package remote has sessions of a sandbox-server: an *engine.Session that keeps the contract of package engine, over
// Connect.
//
//	s, err := remote.Open(ctx, "http://127.0.0.1:8700", nil)
//	...
//	defer s.Close()
//	out, err := s.Exec(ctx, "print(2+2)", nil)
//
// What a network adds: a run whose connection breaks is engine.ErrLost, and never has an exit code that nobody saw. A server
// that does not answer any more is noticed within the time of ClientOptions.KeepAlive and half of it. Calls that change nothing
// are tried again when there is no connection; others, and runs above all, never are. A session whose server has closed it, or
// ended, is engine.ErrClosed. The server closes a session that is not used: as long as it is open here, it counts as used.
package remote

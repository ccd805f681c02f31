// Package sandbar runs code that people or language models wrote where it can do no harm.
//
// Open opens a session: a work directory, limits, and any number of runs in it. Python scripts run in a
// WebAssembly interpreter inside this process; each gets a fresh one.
//
//	s, err := sandbar.Open(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	out, err := s.Exec(ctx, "print(2 + 2)", nil)
//
// The types of a session are those of package engine. What each tier promises and does not is in
// SECURITY.md.
package sandbar

// Package sandbar runs code that people or language models wrote where it can do no harm.
//
// Open opens a session: a work directory, limits, and any number of runs in it. Python scripts run in a
// WebAssembly interpreter inside this process; each gets a fresh one. Shell scripts and native programs run on
// Linux, as processes in namespaces of their own. Both kinds work on the same files:
//
//	s, err := sandbar.Open(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	_, err = s.RunCode(ctx, "seq 3 > numbers.txt", &sandbar.RunOptions{Type: sandbar.Shell})
//	if err != nil {
//		return err
//	}
//	sum, err := s.RunCode(ctx, "print(sum(map(int, open('numbers.txt'))))", nil) // "6\n"
//
// The types of a session are those of package engine; the names here are aliases of those that most programs
// need. What each tier promises and does not is in SECURITY.md.
//
// # A program that imports this package
//
// It is the init of its own cells: the native tier starts the program again, with the first argument
// "sandbar-cell-init", and the initialisation of a package that this one imports then takes that process over before
// main. Nothing has to be called for that. What other packages of the program do in their own initialisation, before
// that one, happens in each cell as well: it should be quick and start nothing.
package sandbar

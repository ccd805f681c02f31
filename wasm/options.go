package wasm

import (
	"log/slog"
	"runtime"
)

// Options are for New. Nil and the zero value mean the defaults.
type Options struct {
	// CacheDir is where the compiled interpreter and the image are kept, some 30 MB. It is made when
	// it is not there, and must belong to this user and to nobody else. Zero: "sandbar" in the user's
	// cache folder, os.UserCacheDir. A folder that cannot be used costs seconds in each process, is
	// told in Driver.Info().Warnings, and is no error.
	CacheDir string
	// NoCache keeps nothing on disk.
	NoCache bool
	// Idle is how many instances are made ahead, some 1 MiB each. Zero: as many as GOMAXPROCS;
	// negative: none. When more runs come at once, up to eight times as many are kept for the next ones.
	Idle int
	// Progress is told what is being done while the first run prepares the interpreter, which takes
	// seconds on a machine where nothing is cached; done counts up to total, and when both are equal
	// the interpreter is ready. It is called from one goroutine at a time. Nil: nobody is told.
	Progress func(step string, done, total int)
	// Logger gets steps and warnings. Nil: none.
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.Idle == 0 {
		filled.Idle = runtime.GOMAXPROCS(0)
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	if filled.Progress == nil {
		filled.Progress = func(string, int, int) {}
	}
	return filled
}

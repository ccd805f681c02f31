package admin

import (
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"time"
)

// The profiles are made with runtime/pprof. To import net/http/pprof would put them on http.DefaultServeMux as well, which
// a program may serve to everybody, and the command line among them.

const (
	profilePath    = "/debug/pprof/"
	defaultProfile = 30 * time.Second
	maxProfile     = 5 * time.Minute
)

func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET "+profilePath+"{$}", listProfiles)
	mux.HandleFunc("GET "+profilePath+"profile", timed(pprof.StartCPUProfile, pprof.StopCPUProfile))
	mux.HandleFunc("GET "+profilePath+"trace", timed(trace.Start, trace.Stop))
	mux.HandleFunc("GET "+profilePath+"{name}", oneProfile)
}

func listProfiles(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, p := range pprof.Profiles() {
		fmt.Fprintf(w, "%d %s\n", p.Count(), p.Name())
	}
	fmt.Fprint(w, "profile?seconds=30\ntrace?seconds=5\n")
}

// oneProfile sends a profile as it is now: ?debug=1 as text.
func oneProfile(w http.ResponseWriter, r *http.Request) {
	p := pprof.Lookup(r.PathValue("name"))
	if p == nil {
		http.NotFound(w, r)
		return
	}
	debug := 0
	if text := r.URL.Query().Get("debug"); text != "" {
		var err error
		if debug, err = strconv.Atoi(text); err != nil || debug < 0 || debug > 2 {
			http.Error(w, "debug is not 0, 1 or 2", http.StatusBadRequest)
			return
		}
	}
	if debug == 0 {
		w.Header().Set("Content-Type", "application/octet-stream")
	} else {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	_ = p.WriteTo(w, debug) // what it returns is that the client has gone
}

// timed sends a profile of the time that ?seconds names, or until the client goes.
func timed(start func(io.Writer) error, stop func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		length := defaultProfile
		if text := r.URL.Query().Get("seconds"); text != "" {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || !(n > 0 && n <= maxProfile.Seconds()) {
				http.Error(w, fmt.Sprintf("seconds is not a number up to %v", maxProfile.Seconds()), http.StatusBadRequest)
				return
			}
			length = time.Duration(n * float64(time.Second))
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if err := start(w); err != nil { // another one is being made
			http.Error(w, "a profile is being made already", http.StatusConflict)
			return
		}
		defer stop()
		select {
		case <-time.After(length):
		case <-r.Context().Done():
		}
	}
}

package daemon

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes that are not a signal's.
const (
	exitFailed = 1 // the server could not start, or not end in good order
	exitUsage  = 2 // the command line or the configuration cannot be used
)

// An ExitError ends the command with a code.
type ExitError struct {
	Code int
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode is the exit code for what the command has returned. What cobra itself finds is the command line.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code
	}
	return exitUsage
}

const flagConfig = "config"

const long = `Offer sandboxes to other programs, over Connect, gRPC and gRPC-Web on one port.

Without credentials the server listens on this machine alone. Whoever can reach a loopback port may open sessions, but
reach nothing of the host by them; through a unix socket only the user of the server comes in, and may do what this user
may. Beyond the machine it needs --tokens, or --client-ca with --certificates: it refuses to start without.

The backends are tried at the start. When one does not work here, the server says why and ends.

Each flag is a key of the file of --config as well (YAML), where a list stands for a flag that is given again. A flag on
the command line wins. The files of tokens, certificates, policies and TLS are read again when they change.

SIGTERM and SIGINT end the server: it takes no new sessions and runs, gives runs under way --drain-timeout, closes all
sessions, and ends with code 0. A second signal ends it at once.

Exit codes: 1 the server could not start, 2 the command line or the configuration cannot be used.`

// NewCommand makes the command that runs a server, with the subcommands token and check-config. Its errors are for ExitCode.
func NewCommand(name string, p *Program) *cobra.Command {
	var c *source
	cmd := &cobra.Command{
		Use:   name + " [flags]",
		Short: "Offer sandboxes to other programs",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := c.load()
			if err != nil {
				return err
			}
			return failed(p.serve(cmd.Context(), config))
		},
		Version:       p.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	c = newSource(cmd, p)
	cmd.AddCommand(newTokenCommand(p), newCheckCommand(p))
	return cmd
}

// failed gives an error of a server that was told what to do its exit code.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit
	}
	return &ExitError{exitFailed, err}
}

// A source is where a command has its configuration from.
type source struct {
	config Config
	file   string
	flags  *pflag.FlagSet
}

// newSource adds the flags to a command.
func newSource(cmd *cobra.Command, p *Program) *source {
	s := &source{flags: cmd.Flags()}
	s.flags.SortFlags = false
	s.flags.StringVar(&s.file, flagConfig, "", "read settings from this `file`; what the command line says wins")
	s.config.flags(s.flags, defaultStateDir(p.Getenv))
	return s
}

// load reads the file and checks the whole.
func (s *source) load() (*Config, error) {
	if s.flags.Changed(flagConfig) {
		places, err := readFile(s.file, s.flags)
		if err != nil {
			return nil, err
		}
		s.config.places = places
	}
	return &s.config, s.config.check()
}

// defaultStateDir follows the XDG Base Directory Specification, and the Filesystem Hierarchy Standard for root.
func defaultStateDir(getenv func(string) string) string {
	const name = "sandbar"
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	if isRoot() {
		return "/var/lib/" + name
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", name)
	}
	if dir := getenv("LOCALAPPDATA"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	return ""
}

func newCheckCommand(p *Program) *cobra.Command {
	var c *source
	cmd := &cobra.Command{
		Use:   "check-config [flags]",
		Short: "Check the command line, the file of --config and the files that they name",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			config, err := c.load()
			if err != nil {
				return err
			}
			if err := config.checkFiles(p); err != nil {
				return &ExitError{exitUsage, err}
			}
			fmt.Fprintln(p.Stdout, "the configuration can be used")
			return nil
		},
	}
	c = newSource(cmd, p)
	return cmd
}

// checkFiles reads the files as a server does at its start.
func (c *Config) checkFiles(p *Program) error {
	log := p.logger(c)
	a, err := openAccess(c, log)
	if err != nil {
		return err
	}
	for _, w := range a.warnings {
		fmt.Fprintln(p.Stderr, "warning:", w)
	}
	if c.TLSCert != "" {
		_, err = openTLS(c, log)
	}
	return err
}

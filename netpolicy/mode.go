// Package netpolicy says what of the network a script may reach.
package netpolicy

// Mode is how much of the network a session or a run has. The zero value is no mode: who takes one
// says what it stands for.
type Mode string

// The modes, from the least to the most.
const (
	// Blocked: a loopback of its own, and nothing else. Neither the host's loopback nor any other host can be reached.
	Blocked Mode = "blocked"
	// Allowlist: what a list names. It is not available yet.
	Allowlist Mode = "allowlist"
	// Open: the host's network, with the host's loopback and what is in reach of it, private and metadata addresses as well.
	Open Mode = "open"
)

// Modes are all modes, from the least to the most.
func Modes() []Mode { return []Mode{Blocked, Allowlist, Open} }

// Known reports whether m is one of Modes.
func (m Mode) Known() bool { return m.rank() >= 0 }

// Within reports whether m gives nothing that ceiling does not give. Both are known.
func (m Mode) Within(ceiling Mode) bool { return m.rank() <= ceiling.rank() }

func (m Mode) rank() int {
	for i, known := range Modes() {
		if m == known {
			return i
		}
	}
	return -1
}

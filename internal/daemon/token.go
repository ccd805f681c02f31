package daemon

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/server"
)

const tokenLong = `Make a new token, and print it with the line for the file of --tokens. The file has the token's hash alone: what is
printed here is shown once, and is for its owner. The server reads the file again when the line is in it.

The first line of the output is the token, the second one that of the file.`

func newTokenCommand(p *Program) *cobra.Command {
	var admin bool
	var policy string
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for the file of --tokens",
		Long:  tokenLong,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			line, token, err := tokenLine(args[0], admin, policy)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Stdout, "%s\n%s\n", token, line)
			return nil
		},
	}
	cmd.Flags().BoolVar(&admin, "admin", false, "its owner may list and close the sessions of all")
	cmd.Flags().StringVar(&policy, "policy", "", "its owner has this `policy` of the file of --policy")
	return cmd
}

// tokenLine makes a token and the line of the file for it.
func tokenLine(name string, admin bool, policy string) (line, token string, err error) {
	for _, n := range []struct{ what, value string }{{"the name", name}, {"--policy", policy}} {
		if !isName(n.value) && (n.value != "" || n.what != "--policy") {
			return "", "", fmt.Errorf("%s %q is not 1 to 64 letters, digits and any of . _ - @", n.what, n.value)
		}
	}
	token, hash := server.NewToken()
	line = name + " " + hash
	if admin {
		line += " admin"
	}
	if policy != "" {
		line += " policy=" + policy
	}
	return line, token, nil
}

// isName is what the server takes for a name.
func isName(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters) == ""
}

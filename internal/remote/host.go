// Package remote runs agentctl on other machines by OpenSSH: the arguments are in the command line there, input goes over stdin, and what the
// program prints comes back as it is. It listens nowhere and stores nothing.
package remote

import (
	"fmt"
	"strings"
	"time"
)

// Local is the name of this machine among hosts.
const Local = "local"

// pidPrefix begins an argument that names a process, pid:4711.
const pidPrefix = "pid"

// Target is a machine.
type Target struct {
	// Name is what the user calls it; [Local] is this machine.
	Name string
	// ConnectTimeout is how long ssh may take to reach it, to the second.
	ConnectTimeout time.Duration
	// Destination is what ssh is given: a name of its configuration, user@host, or a URI.
	Destination string
}

func (t Target) IsLocal() bool { return t.Name == Local }

// maxName bounds the name of a host, in bytes.
const maxName = 255

// hasOnly reports whether a text is not empty, does not begin with a dash, which ssh would take for a flag, and has only letters, digits, dots, dashes,
// underscores and the characters of special. A shell, an ID or a list gives none of them another meaning.
func hasOnly(text, special string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-"+special, r) {
			return false
		}
	}
	return text != "" && text[0] != '-' && len(text) <= maxName
}

// CheckName returns an error unless name may be the name of a host.
func CheckName(name string) error {
	if !hasOnly(name, "@+") || name == pidPrefix || strings.HasPrefix(name, "@") || strings.HasSuffix(name, "@") {
		return fmt.Errorf("%q is not the name of a host: use a name of ~/.ssh/config, user@host, or a name of [hosts] in the configuration", name)
	}
	return nil
}

// CheckDestination returns an error unless text may be given to ssh as its destination.
func CheckDestination(text string) error {
	if !hasOnly(strings.TrimPrefix(text, "ssh://"), "@+:%[]") {
		return fmt.Errorf("%q is not a destination for ssh: use a name of ~/.ssh/config, user@host or ssh://user@host:port", text)
	}
	return nil
}

// SplitID splits an argument H:ID. ok is false for the argument of a session on this machine, such as an ID, pid:4711 or ID@/a:b.
func SplitID(arg string) (name, id string, ok bool) {
	name, id, ok = strings.Cut(arg, ":")
	if !ok || id == "" || CheckName(name) != nil {
		return "", arg, false
	}
	return name, id, true
}

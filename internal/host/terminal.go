package host

import "fmt"

// TerminalCommand returns the command line that runs a request on a host in the terminal of the caller, as if its user had typed it there. ssh may
// ask for what it needs, and its escape character works. A host without agentctl says so on stderr, and ends with the exit code missing.
func (s SSH) TerminalCommand(t Target, r Request, missing int) ([]string, error) {
	word, err := encodeWord(r)
	if err != nil {
		return nil, err
	}
	command := fmt.Sprintf("exec sh -c '%s; command -v agentctl >/dev/null 2>&1 || { echo \"agentctl: error: %s has no agentctl\" >&2; "+
		"echo \"hint: agentctl host install %s copies this program there\" >&2; exit %d; }; exec agentctl %s %s %s'", remotePath, t.Name, t.Name, missing, RemoteVerb, InTerminal, word)
	return append(append([]string{s.Path, "-t"}, s.sharedFlags()...), "--", t.Destination, command), nil
}

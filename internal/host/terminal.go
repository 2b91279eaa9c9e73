package host

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// TerminalCommand returns the command line that runs a request on a host in the terminal of the caller, as if its user had typed it there. ssh may
// ask for what it needs, and its escape character works. A host without agentctl says so on stderr, and ends with the exit code missing.
func (s SSH) TerminalCommand(t Target, r Request, missing int) ([]string, error) {
	word, err := encodeWord(r)
	if err != nil {
		return nil, err
	}
	command := fmt.Sprintf("exec sh -c '%s; command -v agentctl >/dev/null 2>&1 || { echo \"agentctl: error: %s has no agentctl\" >&2; "+
		"echo \"hint: agentctl host install %s copies this program there\" >&2; exit %d; }; exec agentctl __remote %s'", remotePath, t.Name, t.Name, missing, word)
	return append(append([]string{s.Path, "-t"}, s.sharedFlags()...), "--", t.Destination, command), nil
}

// encodeWord makes one word of a request, which means the same in every shell.
func encodeWord(r Request) (string, error) {
	content, err := json.Marshal(r)
	return base64.RawURLEncoding.EncodeToString(content), err
}

// DecodeWord returns the request of a word of [SSH.TerminalCommand].
func DecodeWord(word string) (r Request, err error) {
	content, err := base64.RawURLEncoding.DecodeString(word)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return Request{}, fmt.Errorf("reading the request: %w", err)
	}
	return r, nil
}

package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/tests/schema"
)

// sequence is what agentctl itself writes for a terminal: colours, and the end of a line erased.
var sequence = regexp.MustCompile("\x1b\\[[0-9;]*[mK]")

// clean fails if a character reaches the reader on which a terminal acts, beside agentctl's own colours on a terminal.
func (c *call) clean() error {
	return errors.Join(harmless("stdout", c.out.Bytes(), c.terminal), harmless("stderr", c.errs.Bytes(), false))
}

func harmless(name string, text []byte, terminal bool) error {
	if terminal {
		text = bytes.ReplaceAll(sequence.ReplaceAll(text, nil), []byte("\r"), nil)
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		bad := r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError && n == 1
		if bad {
			return fmt.Errorf("%s holds %q: %q", name, text[i:i+n], text[max(0, i-100):min(len(text), i+100)])
		}
		i += n
	}
	return nil
}

// shape is the part of the schema that a command's JSON has; stream: it is one value after the other.
func (c *call) shape() (part string, stream bool) {
	switch c.verb() {
	case "list", "ls", "ps":
		if slices.Contains(c.args, "--orphans") {
			return "orphans", false
		}
		return "sessions", false
	case "status", "wait", "current", "search":
		return "session", true
	case "peek", "logs":
		return "messages", slices.Contains(c.args, "-f")
	case "export":
		return "export", true
	case "events":
		return "event", true
	case "stop":
		return "stops", false
	case "usage":
		if slices.Contains(c.args, "--limits") {
			return "limits", false
		}
		return "usage", false
	case "du":
		return "du", false
	case "rm", "archive", "unarchive":
		return "managed", false
	case "locks", "lock":
		return "locks", false
	case "doctor", "version":
		return c.verb(), false
	case "hooks status", "hooks install", "hooks uninstall":
		return "hooks", false
	case "worktree list":
		return "worktrees", false
	case "worktree clean":
		return "cleaned", false
	}
	return "", false
}

// valid fails unless stdout of a run with --json is what the schema says. A run that was cut short may end within a value.
func (c *call) valid() error {
	if !c.json() || c.out.Len() == 0 || c.out.more || c.signal != 0 || c.terminal {
		return nil
	}
	part, stream := c.shape()
	if part == "" {
		return nil
	}
	if !stream {
		return schema.Check(part, c.out.String())
	}
	if part == "messages" {
		part = "message"
	}
	for values := json.NewDecoder(bytes.NewReader(c.out.Bytes())); ; {
		var value json.RawMessage
		if err := values.Decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := schema.Check(part, string(value)); err != nil {
			return err
		}
	}
}

// reported fails unless each line on stderr of a run with --json is a JSON object.
func (c *call) reported() error {
	if !slices.Contains(c.args, "--json") || c.errs.more || c.terminal || c.signal != 0 {
		return nil
	}
	for line := range bytes.Lines(c.errs.Bytes()) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			return fmt.Errorf("stderr: %w in %.300q", err, line)
		}
	}
	return nil
}

// session is what is read of a row.
type session struct {
	ID      *string
	Adapter string
	Status  string
	PID     int
	Path    string
	Home    string
	CWD     string

	files []string // of its base, by path below the home: any of them tells of the session
}

func (s session) String() string {
	id := "-"
	if s.ID != nil {
		id = *s.ID
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %d", s.Adapter, id, s.Status, s.PID))
}

// sessions are the rows of list --json, none if it printed none.
func (c *call) sessions() []session {
	var list []session
	_ = json.Unmarshal(c.out.Bytes(), &list) // valid has checked it
	return list
}

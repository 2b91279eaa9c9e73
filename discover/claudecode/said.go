package claudecode

import (
	"bytes"
	"strings"

	"agentctl/discover/native"
	"agentctl/launch"
)

// Said implements [launch.Agent]. With --output-format json or stream-json the lines tell; retries in them are no
// failure. As text, print mode writes to stdout once: the answer, or why there is none; to stderr go usage errors, and
// warnings of a run that may be fine (SEEN 2.1.75–2.1.329).
func (Adapter) Said(o launch.Output) (said launch.Said) {
	spoke := false
	for raw := range bytes.Lines(o.Stdout) {
		if e, ok := parseEvent(raw); ok {
			spoke = true
			e.tell(&said)
		}
	}
	if !spoke {
		said.Error = firstText(o.Stdout, o.Stderr)
	} else if said.Error == "" {
		said.Error = firstText(stderrOnly(o))
	}
	return said
}

// event is a line of --output-format stream-json, or the only one of json.
type event struct {
	kind, subtype, session string
	isError                bool
	result                 string
	errors                 []string
}

func parseEvent(raw []byte) (e event, ok bool) {
	ok = native.Object(raw).Scan(func(key []byte, v native.Value) {
		switch string(key) {
		case "type":
			e.kind = v.Text(0)
		case "subtype":
			e.subtype = v.Text(0)
		case "session_id":
			e.session = v.Text(0)
		case "is_error":
			e.isError = isTrue(v)
		case "result":
			e.result = v.Text(wordsLimit)
		case "errors":
			for text := range v.Elements() {
				e.errors = append(e.errors, text.Text(wordsLimit))
			}
		}
	})
	return e, ok && e.kind != ""
}

// tell adds what an event says of the run as a whole: its beginning, or its end.
func (e event) tell(said *launch.Said) {
	begins, ends := e.kind == "system" && e.subtype == "init", e.kind == "result"
	if (begins || ends) && isUUID(e.session) {
		said.ID = e.session
	}
	if !ends {
		return
	}
	said.Error = ""
	if e.isError || strings.HasPrefix(e.subtype, "error") {
		said.Error = firstText([]byte(e.result), []byte(strings.Join(e.errors, "\n")), []byte(e.subtype))
	}
}

// stderrOnly is what stands on stderr, unless that is the same file as stdout.
func stderrOnly(o launch.Output) []byte {
	if bytes.Equal(o.Stdout, o.Stderr) {
		return nil
	}
	return o.Stderr
}

// wordsLimit is how much of its words is passed on, in characters.
const wordsLimit = 1000

// firstText is the end of the first text that is not blank.
func firstText(texts ...[]byte) string {
	for _, t := range texts {
		if words := []rune(strings.TrimSpace(string(t))); len(words) > wordsLimit {
			return "…" + string(words[len(words)-wordsLimit:])
		} else if len(words) > 0 {
			return string(words)
		}
	}
	return ""
}

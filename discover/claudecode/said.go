package claudecode

import (
	"bytes"
	"cmp"
	"strings"

	"agentctl/discover/native"
	"agentctl/launch"
)

// Said implements [launch.Agent]. With --output-format json or stream-json the lines tell; retries in them are no
// failure. Plain text tells nothing: an answer and an API's error look alike there, and stderr has warnings too. The
// transcript tells them apart.
func (Adapter) Said(o launch.Output) (said launch.Said) {
	first := true
	for raw := range bytes.Lines(o.Stdout) {
		e, ok := parseEvent(raw)
		if first && !ok {
			break // an answer, which may quote such lines
		}
		first = false
		e.tell(&said)
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
	ok = native.Object(raw).Scan(func(key []byte, v native.Value) (length int) {
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
		return 0
	})
	return e, ok && e.kind != ""
}

// tell adds what an event says of the run as a whole: its beginning, or its end.
func (e event) tell(said *launch.Said) {
	begins, ends := e.kind == "system" && e.subtype == "init", e.kind == "result"
	if !begins && !ends || !isUUID(e.session) {
		return
	}
	said.ID, said.Error = e.session, ""
	if e.isError || strings.HasPrefix(e.subtype, "error") {
		said.Error = cmp.Or(strings.TrimSpace(e.result), strings.Join(e.errors, "\n"), e.subtype)
	}
}

// wordsLimit is how much of its words is passed on, in characters.
const wordsLimit = 1000

package claudecode

import (
	"bytes"
	"cmp"
	"strings"

	"agentctl/discover"
	"agentctl/launch"
)

// ParseOutput implements [launch.Adapter]. It understands --output-format json and stream-json; retries in them are no
// failure. In plain text an answer and an API's error look alike, and stderr has warnings too: there, only the transcript
// tells them apart.
func (Adapter) ParseOutput(o launch.Output) (parsed launch.ParsedOutput) {
	first := true
	for raw := range bytes.Lines(o.Stdout) {
		var e event
		if err := unmarshal(raw, &e); first && (err != nil || e.Type == "") {
			break // plain text, which may quote such lines
		}
		first = false
		e.addTo(&parsed)
	}
	return parsed
}

// event is a line of --output-format stream-json, or the only line of json.
type event struct {
	Type    string   `json:"type"`
	Subtype string   `json:"subtype"`
	Session string   `json:"session_id"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
}

// addTo adds what an event says of the whole run: its beginning, or its end.
func (e event) addTo(parsed *launch.ParsedOutput) {
	begins, ends := e.Type == "system" && e.Subtype == "init", e.Type == "result"
	if !begins && !ends || !isUUID(e.Session) {
		return
	}
	parsed.ID, parsed.Error = e.Session, ""
	if e.IsError || strings.HasPrefix(e.Subtype, "error") {
		text := cmp.Or(strings.TrimSpace(e.Result), strings.Join(e.Errors, "\n"), e.Subtype)
		parsed.Error = discover.Truncate(text, errorTextLimit)
	}
}

// errorTextLimit is the length to which an error's text is cut, in characters.
const errorTextLimit = 1000

package opencode

import (
	"bytes"
	"cmp"
	"strings"

	"agentctl/discover/native/jsonl"
	"agentctl/discover/opencode/transcript"
	"agentctl/launch"
)

// ParseOutput implements [launch.Adapter]. `run --format json` prints one JSON object an event, each with the ID of the run's own
// session; the first comes when the model answers, or fails to. An error event ends the run, before 1.17 with exit status 0
// (SEEN 1.1.65, 1.18.33). Retries print nothing.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var said launch.ParsedOutput
	for line := range bytes.Lines(o.Stdout) {
		id := eventSessionID(line)
		if id == "" {
			continue
		}
		said.ID = cmp.Or(said.ID, id)
		if e := jsonl.Object(line); e.Get("type").Text(transcript.NameLimit) == "error" {
			said.Error = cmp.Or(eventError(e.Get("error").Object()), said.Error)
		}
	}
	if said.Error == "" {
		said.Error = cmp.Or(stderrError(o.Stderr), helpError(o.Stderr), helpError(o.Stdout))
	}
	return said
}

// eventError is the text of an error event; what the agent's log says more of it has a reference.
func eventError(e jsonl.Object) string {
	data := e.Get("data").Object()
	text := cmp.Or(data.Get("message").Text(transcript.ErrorLimit), e.Get("name").Text(transcript.NameLimit))
	if ref := data.Get("ref").Text(transcript.NameLimit); ref != "" {
		text += " (" + ref + ")"
	}
	return text
}

// errorPrefix begins a message of failure, in red (SEEN 1.1.65, 1.18.33).
const errorPrefix = "\x1b[91m\x1b[1mError: \x1b[0m"

// stderrError is what follows the last mark of an error.
func stderrError(stderr []byte) string {
	_, after, _ := bytes.Cut(stderr, []byte(errorPrefix))
	if i := bytes.LastIndex(after, []byte(errorPrefix)); i >= 0 {
		after = after[i+len(errorPrefix):]
	}
	return strings.TrimSpace(string(after[:min(len(after), transcript.ErrorLimit)]))
}

// helpError: a command line that the agent does not understand makes it print its help, and no reason (SEEN 1.1.65 on
// stdout, 1.18.33 on stderr).
func helpError(text []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("opencode run [message..]")) {
		return ""
	}
	return "it does not understand its arguments, and printed its help"
}

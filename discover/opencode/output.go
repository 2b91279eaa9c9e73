package opencode

import (
	"bytes"
	"cmp"
	"strings"

	"agentctl/discover/native/jsonl"
	"agentctl/launch"
)

// ParseOutput implements [launch.Adapter]. `run --format json` prints a JSON object for each event, with the ID of its session. The first
// event is the model's answer or its failure. An error event ends the run, before 1.17 with exit status 0. A retry
// prints nothing.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var parsed launch.ParsedOutput
	for line := range bytes.Lines(o.Stdout) {
		id := eventSessionID(line)
		if id == "" {
			continue
		}
		parsed.ID = cmp.Or(parsed.ID, id)
		if e := jsonl.Object(line); e.Get("type").Text(nameLimit) == "error" {
			parsed.Error = cmp.Or(eventError(e.Get("error").Object()), parsed.Error)
		}
	}
	if parsed.Error == "" {
		parsed.Error = cmp.Or(stderrError(o.Stderr), helpError(o.Stderr))
	}
	return parsed
}

// eventError returns the text of an error event, with its reference to the agent's log.
func eventError(e jsonl.Object) string {
	data := e.Get("data").Object()
	text := cmp.Or(data.Get("message").Text(errorLimit), e.Get("name").Text(nameLimit))
	if ref := data.Get("ref").Text(nameLimit); ref != "" {
		text += " (" + ref + ")"
	}
	return text
}

// errorPrefix begins an error message, in red (SEEN 1.18.33).
const errorPrefix = "\x1b[91m\x1b[1mError: \x1b[0m"

// stderrError returns the last error message.
func stderrError(stderr []byte) string {
	_, after, _ := bytes.Cut(stderr, []byte(errorPrefix))
	if i := bytes.LastIndex(after, []byte(errorPrefix)); i >= 0 {
		after = after[i+len(errorPrefix):]
	}
	return strings.TrimSpace(string(after[:min(len(after), errorLimit)]))
}

// helpError returns an error if the text is the agent's help. The agent prints it, without a reason, if it does not understand its
// arguments (SEEN 1.18.33).
func helpError(text []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("opencode run [message..]")) {
		return ""
	}
	return "it does not understand its arguments, and printed its help"
}

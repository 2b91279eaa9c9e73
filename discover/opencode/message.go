package opencode

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// storedMessage is a stored message without its parts. Times are in milliseconds since 1970.
type storedMessage struct {
	ID                 string
	Role               string
	Created, Completed int64
	finishReason       string
	failed             bool
	errName, errText   string
	errStatus          int64 // the HTTP status of the provider
	provider           string
	Model              string // with the provider
	Agent              string
	Variant            string // of the model
	parentID           string // the user's message that an answer belongs to
	tokens             discover.Tokens
	cost               float64
	summary            bool // a compaction: it sums up the messages before it for the model
}

// Roles of messages.
const (
	userRole      = "user"
	assistantRole = "assistant"
)

// parseMessage parses the JSON of a message.
func parseMessage(data []byte) (m storedMessage) {
	for key, v := range storage.Object(data).Members() {
		switch o := v.Object(); string(key) {
		case "id":
			m.ID = v.Text(nameLimit)
		case "role":
			m.Role = v.Text(nameLimit)
		case "finish":
			m.finishReason = v.Text(nameLimit)
		case "agent":
			m.Agent = v.Text(nameLimit)
		case "variant":
			m.Variant = v.Text(nameLimit)
		case "parentID":
			m.parentID = v.Text(nameLimit)
		case "modelID":
			m.Model = v.Text(nameLimit)
		case "providerID":
			m.provider = v.Text(nameLimit)
		case "summary": // an object in the user's messages
			m.summary = isTrue(v)
		case "time":
			m.Created, m.Completed = o.Get("created").Int(), o.Get("completed").Int()
		case "model":
			m.provider, m.Model = o.Get("providerID").Text(nameLimit), o.Get("modelID").Text(nameLimit)
			m.Variant = cmp.Or(o.Get("variant").Text(nameLimit), m.Variant)
		case "tokens":
			m.tokens = parseTokens(o)
		case "cost":
			m.cost = max(number(v), 0)
		case "error": // {"name","data":{"message","statusCode"}}
			if m.errName = o.Get("name").Text(nameLimit); m.errName != "" {
				data := o.Get("data").Object()
				m.failed, m.errText, m.errStatus = true, data.Get("message").Text(0), data.Get("statusCode").Int()
			}
		}
	}
	m.Model = modelName(m.provider, m.Model)
	return m
}

// parseRow parses a message. The row knows its ID and, in a database, its time.
func parseRow(r storedRow, data []byte) storedMessage {
	m := parseMessage(data)
	if r.Type != "" {
		m.setV2(r.Type, data)
	}
	m.ID, m.Created = r.ID, cmp.Or(r.Created, m.Created)
	return m
}

// isUsers reports whether a stored message is the user's. The head says so, unless the keys are in another order than the agent's.
func isUsers(r storedRow) bool {
	if r.Type != "" {
		return r.Type == userRole
	}
	role := storage.Object(r.Head).Get("role")
	if role == nil {
		role = storage.Object(r.JSON()).Get("role")
	}
	return role.Text(nameLimit) == userRole
}

// modelName returns the model as OpenCode's option -m takes it: provider/model.
func modelName(provider, model string) string {
	if provider == "" || model == "" {
		return model
	}
	return provider + "/" + model
}

func isTrue(v storage.Value) bool { return strings.HasPrefix(string(v), "true") }

// number returns a JSON number; 0 for anything else.
func number(v storage.Value) float64 {
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// part is a part of a message: a text, a tool call and others.
type part struct {
	kind, text  string // the text of a file is "[image]", or its name in brackets
	hidden      bool   // written by the agent, not by the user
	Tool        string // the tool's name
	callID      string // of a tool call
	status      string
	hasMetadata bool   // the tool has begun to report
	Command     string // of a shell tool
	Child       string // the session of a sub-agent
	errText     string
	Started     int64  // when the tool call began, in milliseconds since 1970
	input       string // the JSON input of a tool call that has not ended
}

// parsePart parses the JSON of a part.
func parsePart(data []byte) (p part) {
	var mime, name string
	for key, v := range storage.Object(data).Members() {
		switch string(key) {
		case "type":
			p.kind = v.Text(nameLimit)
		case "text":
			p.text = discover.Truncate(discover.StripContextFiles(v.Text(0)), promptLimit)
		case "synthetic", "ignored":
			p.hidden = p.hidden || isTrue(v)
		case "tool":
			p.Tool = v.Text(nameLimit)
		case "callID":
			p.callID = v.Text(nameLimit)
		case "mime":
			mime = v.Text(nameLimit)
		case "filename":
			name = v.Text(nameLimit)
		case "state":
			p.parseState(v.Object())
		}
	}
	if p.kind == "file" {
		p.text = fileText(mime, name)
	}
	return p
}

// fileText returns how a file of a message without words is shown.
func fileText(mime, name string) string {
	if strings.HasPrefix(mime, "image/") {
		return "[image]"
	}
	return "[" + cmp.Or(name, "file") + "]"
}

// words returns the first text of a message that its author wrote, or else the text of its first file, and isFile.
func words(rows rowReader, message string) (text string, isFile bool) {
	for r := range rows.Parts(message) {
		switch p := parsePart(r.JSON()); {
		case p.hidden, isBlank(p.text):
		case p.kind == "text":
			return p.text, false
		case p.kind == "file" && text == "":
			text, isFile = p.text, true
		}
	}
	return text, isFile
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

func (p *part) parseState(o storage.Object) {
	input, metadata := o.Get("input"), o.Get("metadata")
	p.status, p.errText = o.Get("status").Text(nameLimit), o.Get("error").Text(errorLimit)
	p.Command = input.Object().Get("command").Text(argLimit)
	p.hasMetadata, p.Child = metadata != nil, metadata.Object().Get("sessionId").Text(nameLimit)
	p.Started = o.Get("time").Object().Get("start").Int()
	if p.status == statusRunning {
		p.input = string(input.Raw())
	}
}

// shellNote is the only text in the user's message for a command that the user gave with "!". The command itself is a call of bash
// in an answer to that message, which no model wrote (SEEN 1.1.65, 1.18.33).
const shellNote = "The following tool was executed by the user"

// statusRunning is the status of a tool call that has its input and has not ended. It may wait for the user.
const statusRunning = "running"

// running reports whether the part is a tool call that has not ended.
func (p part) running() bool { return p.kind == toolType && p.status == statusRunning }

// partType returns the type of a part, for which the beginning of its JSON is enough; "" if the type is not in it.
func partType(o storage.Object) string { return o.Get("type").Text(nameLimit) }

// parseTitle returns a session's title; "" for a blank one, and for the title that the agent gives to each new session: "New session - " or
// "Child session - " and the time (SEEN 0.5 to 1.18).
func parseTitle(title string) string {
	if isBlank(title) {
		return ""
	}
	for _, usual := range [...]string{"New session - ", "Child session - "} {
		if rest, ok := strings.CutPrefix(title, usual); ok {
			rest, _, _ = strings.Cut(rest, " (fork #")
			if _, err := time.Parse(time.RFC3339Nano, rest); err == nil {
				return ""
			}
		}
	}
	return title
}

// isHeadlessPermission reports whether a session's permissions, as JSON, are those that `opencode run` sets for the sessions it makes.
func isHeadlessPermission(permission string) bool {
	return strings.Contains(permission, `"question"`) && strings.Contains(permission, `"deny"`)
}

// promptText returns a record's prompt, from the first text that the user wrote.
func promptText(text string) string {
	return discover.Truncate(unquoteArg(text), discover.PromptLimit)
}

// unquoteArg removes the quotes that `opencode run` puts around an argument with a space in it. It changes only a text that is one such
// argument. 1.1 stores a newline after the argument, and before what it read from its standard input.
func unquoteArg(text string) string {
	text = strings.TrimRight(strings.TrimPrefix(text, "\n"), "\n")
	quoted, ok := strings.CutPrefix(text, `"`)
	const escaped = "\x00"
	inner, rest, _ := strings.Cut(strings.ReplaceAll(quoted, `\"`, escaped), `"`) // the text may have been cut before the closing quote
	if !ok || rest != "" {
		return text
	}
	return strings.ReplaceAll(inner, escaped, `"`)
}

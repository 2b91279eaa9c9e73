// Package transcript parses what OpenCode stores of a session: its metadata, its messages and their parts. It derives the newest
// turn, the usage and the messages of `logs`. It opens no file and no database: callers pass JSON, or a [rowReader] that reads one session.
package opencode

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
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
	for key, v := range jsonl.Object(data).Members() {
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
			m.summary = strings.HasPrefix(string(v), "true")
		case "time":
			m.Created, m.Completed = o.Get("created").Int(), o.Get("completed").Int()
		case "model":
			m.provider, m.Model = o.Get("providerID").Text(nameLimit), o.Get("modelID").Text(nameLimit)
			m.Variant = cmp.Or(o.Get("variant").Text(nameLimit), m.Variant)
		case "tokens":
			m.tokens = parseTokens(o)
		case "cost":
			m.cost = number(v)
		case "error":
			if m.errName = o.Get("name").Text(nameLimit); m.errName != "" {
				m.failed, m.errText, m.errStatus = true, errorText(o), o.Get("data").Object().Get("statusCode").Int()
			}
		}
	}
	m.Model = modelName(m.provider, m.Model)
	return m
}

// parseRow parses a message. The row knows its ID and, in a database, its time.
func parseRow(r storedRow, data []byte) storedMessage {
	m := parseMessage(data)
	m.ID, m.Created = r.ID, cmp.Or(r.Created, m.Created)
	return m
}

// errorText returns the text of an error {"name","data":{"message"}}.
func errorText(o jsonl.Object) string { return o.Get("data").Object().Get("message").Text(0) }

// modelName returns the model as OpenCode's option -m takes it: provider/model.
func modelName(provider, model string) string {
	if provider == "" || model == "" {
		return model
	}
	return provider + "/" + model
}

// number returns a JSON number; 0 for anything else.
func number(v jsonl.Value) float64 {
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

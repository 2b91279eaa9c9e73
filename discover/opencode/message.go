package opencode

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// message is what matters of one message; the same JSON stands in the database's message.data and, before 1.2, in
// files of their own. Times are in milliseconds.
type message struct {
	id                 string
	role               string
	created, completed int64
	updated            int64 // of the row; 0 in files
	active             int64 // of the newest part, where the parts were read
	finishReason       string
	failed             bool
	errName, errText   string
	errStatus          int64 // the provider's HTTP status
	provider           string
	model              string // with the provider
	agent, dir         string
	variant            string // of the model
	parentID           string // the user's message that an answer is to
	tokens             discover.Tokens
	cost               float64
	summary            bool // it sums up what was said before it, for the model to go on from
}

const (
	textLimit  = 2000      // characters kept of an error
	shortLimit = 300       // of a name or path
	argLimit   = 128 << 10 // of a command, which is one argument of a process: Linux takes no longer ones
)

func parseMessage(data []byte) (m message) {
	for key, v := range jsonl.Object(data).Members() {
		switch o := v.Object(); string(key) {
		case "id":
			m.id = v.Text(shortLimit)
		case "role":
			m.role = v.Text(shortLimit)
		case "finish":
			m.finishReason = v.Text(shortLimit)
		case "agent":
			m.agent = v.Text(shortLimit)
		case "variant":
			m.variant = v.Text(shortLimit)
		case "parentID":
			m.parentID = v.Text(shortLimit)
		case "modelID":
			m.model = v.Text(shortLimit)
		case "providerID":
			m.provider = v.Text(shortLimit)
		case "summary": // of the person's messages it is an object
			m.summary = strings.HasPrefix(string(v), "true")
		case "time":
			m.created, m.completed = o.Get("created").Int(), o.Get("completed").Int()
		case "path":
			m.dir = o.Get("cwd").Text(maxText)
		case "model":
			m.provider, m.model = o.Get("providerID").Text(shortLimit), o.Get("modelID").Text(shortLimit)
			m.variant = cmp.Or(o.Get("variant").Text(shortLimit), m.variant)
		case "tokens":
			m.tokens = parseTokens(o)
		case "cost":
			m.cost = number(v)
		case "error":
			if m.errName = o.Get("name").Text(shortLimit); m.errName != "" {
				m.failed, m.errText, m.errStatus = true, errorText(o), o.Get("data").Object().Get("statusCode").Int()
			}
		}
	}
	m.model = modelName(m.provider, m.model)
	return m
}

// errorText is what an error {"name","data":{"message"}} says in words.
func errorText(o jsonl.Object) string { return o.Get("data").Object().Get("message").Text(0) }

// modelName is the model as OpenCode's own -m takes it: provider/model.
func modelName(provider, model string) string {
	if provider == "" || model == "" {
		return model
	}
	return provider + "/" + model
}

// parseTokens reads {"total","input","output","reasoning","cache":{"read","write"}}; total is absent before 1.1.
func parseTokens(o jsonl.Object) discover.Tokens {
	cache := o.Get("cache").Object()
	t := discover.Tokens{
		In: o.Get("input").Int(), Out: o.Get("output").Int(), Reasoning: o.Get("reasoning").Int(),
		CacheRead: cache.Get("read").Int(), CacheWrite: cache.Get("write").Int(),
	}
	t.Total = totalTokens(t)
	return t
}

// part is what matters of one part of a message.
type part struct {
	kind, text  string
	hidden      bool // made by the agent, not by the person
	tool        string
	status      string
	hasMetadata bool // the tool has begun to report
	command     string
	child       string // the session of a sub-agent
	errText     string
	started     int64
	input       string // of a tool call that has not ended, as JSON
}

func parsePart(data []byte) part {
	var p part
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "type":
			p.kind = v.Text(shortLimit)
		case "text":
			p.text = discover.Truncate(discover.StripContextFiles(v.Text(0)), promptLimit)
		case "synthetic", "ignored":
			p.hidden = p.hidden || strings.HasPrefix(string(v), "true")
		case "tool":
			p.tool = v.Text(shortLimit)
		case "state":
			p.parseState(v.Object())
		}
	}
	return p
}

// isShellNote reports whether the part is all that the person's message says of a command of theirs.
func (p part) isShellNote() bool { return p.hidden && p.text == shellNote }

func (p *part) parseState(o jsonl.Object) {
	input, metadata := o.Get("input"), o.Get("metadata")
	p.status, p.errText = o.Get("status").Text(shortLimit), o.Get("error").Text(textLimit)
	p.command = input.Object().Get("command").Text(argLimit)
	p.hasMetadata, p.child = metadata != nil, metadata.Object().Get("sessionId").Text(shortLimit)
	p.started = o.Get("time").Object().Get("start").Int()
	if p.status == statusRunning {
		p.input = string(input.Raw())
	}
}

// number is a JSON number; 0 for anything else.
func number(v jsonl.Value) float64 {
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

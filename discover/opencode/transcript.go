package opencode

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/sqlite"
	"agentctl/discover/storage"
)

// rowReader reads the messages of one session and their parts. Databases (1.2 and later) and JSON files (before) have the same JSON.
// A row that cannot be read is left out, or its JSON is nil.
type rowReader interface {
	// Oldest yields the messages from the oldest on.
	Oldest() iter.Seq[storedRow]
	// Newest yields the messages that are older than the cursor's, from the newest on; all of them for the zero cursor.
	Newest(before cursor) iter.Seq[storedRow]
	// Parts yields the parts of a message, from the oldest on.
	Parts(message string) iter.Seq[storedRow]
	// PartsBefore yields the parts of the cursor's message that are older than its part, from the newest on.
	PartsBefore(c cursor) iter.Seq[storedRow]
	// Failures returns how often a row could not be read so far.
	Failures() int
}

// storedRow is a stored message, or a stored part of one. It is valid until the next row of its kind is read.
type storedRow struct {
	ID string
	// Type is that of a message of OpenCode 2, which has no parts, and Seq its place; "" and 0 in a row of OpenCode 1.
	Type string
	Seq  int64
	// Created and Updated are in milliseconds since 1970, and 0 if only the JSON has times.
	Created, Updated int64
	// Head is the beginning of the JSON, which shows what kind of row it is.
	Head []byte
	// Read returns the whole JSON; nil if it cannot be read or is too large. The error is a warning about JSON that is missing or incomplete; a
	// row that has vanished needs none.
	Read func() ([]byte, error)
}

// JSON returns the whole JSON; nil if it cannot be read.
func (s storedRow) JSON() []byte {
	data, _ := s.Read()
	return data
}

// isCopied reports whether a message was copied into a session that was created then; see [session.copiedBefore].
func (s storedRow) isCopied(created int64) bool {
	if s.Type != "" {
		return s.Created < created
	}
	return isCopied(s.ID, s.Created, created)
}

// cursor is a place among the messages of a session, or among the parts of one.
type cursor struct {
	Time          int64 // of the message, in milliseconds; 0 if their IDs order the messages; of OpenCode 2, its place
	Message, Part string
}

// databaseMessages implements [rowReader] for a session of a database.
type databaseMessages struct {
	*database
	session any // its ID, as an argument of statements
}

// messages returns the messages of a session.
func (d *database) messages(session string) rowReader {
	if d.isV2(session) {
		return v2Messages{d, session}
	}
	return databaseMessages{d, session}
}

// messagesOf returns the messages of a session in a table.
func (d *database) messagesOf(t sessionTable, session string) rowReader {
	if t.name == v2SessionTable {
		return v2Messages{d, session}
	}
	return databaseMessages{d, session}
}

func (d databaseMessages) Oldest() iter.Seq[storedRow] {
	return d.query(d.messageTable, "message", `SELECT rowid FROM message WHERE session_id = ? ORDER BY time_created, id`, d.session)
}

func (d databaseMessages) Newest(before cursor) iter.Seq[storedRow] {
	const newestFirst = ` ORDER BY time_created DESC, id DESC`
	if before.Message == "" {
		return d.query(d.messageTable, "message", `SELECT rowid FROM message WHERE session_id = ?`+newestFirst, d.session)
	}
	const older = `SELECT rowid FROM message WHERE session_id = ? AND (time_created, id) < (?, ?)` + newestFirst
	return d.query(d.messageTable, "message", older, d.session, before.Time, before.Message)
}

func (d databaseMessages) Parts(message string) iter.Seq[storedRow] {
	return d.query(d.partTable, "part", `SELECT rowid FROM part WHERE message_id = ? ORDER BY id`, message)
}

func (d databaseMessages) PartsBefore(c cursor) iter.Seq[storedRow] {
	return d.query(d.partTable, "part", `SELECT rowid FROM part WHERE message_id = ? AND id < ? ORDER BY id DESC`, c.Message, c.Part)
}

// maxRow is the most bytes of a message or part that are read. Larger ones contain pasted files.
const maxRow = 16_000_000

// query yields the rows that a statement finds; none without the table.
func (d *database) query(table *sqlite.Table, kind, statement string, args ...any) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		if table == nil {
			return
		}
		for r := range d.rows(table, statement, args...) {
			id := r.Text("id", nameLimit)
			read := func() ([]byte, error) {
				data := r.Bytes("data", maxRow)
				cause := errIncomplete
				switch {
				case len(data) == 0 && len(r.TextBytes("data", headLimit)) > 0:
					cause = storage.ErrTooLarge
				case len(data) > 0 && !storage.Damaged(data):
					return data, nil
				}
				return data, newWarning(d.path, fmt.Errorf("%s %s: %w", kind, id, cause))
			}
			head := r.TextBytes("data", headLimit)
			row := storedRow{ID: id, Created: r.Int("time_created"), Updated: r.Int("time_updated"), Head: head, Read: read}
			row.Type, row.Seq = r.Text("type", nameLimit), r.Int("seq")
			if !yield(row) {
				return
			}
		}
	}
}

// afterAllParts sorts after the ID of every part.
const afterAllParts = "~"

// headLimit is the number of characters of a row's JSON that show its kind.
const headLimit = 300

// Limits of the texts that are kept, in characters.
const (
	nameLimit   = 300       // of IDs and names
	pathLimit   = 4096      // of paths and titles; Linux has no longer paths
	errorLimit  = 2000      // of errors
	promptLimit = 500       // of the first prompt; a record keeps fewer
	argLimit    = 128 << 10 // of a command, which is one argument of a process: Linux allows no longer ones
)

// knownPartTypes are the types of parts that OpenCode writes (READ 1.18.33), those that only older versions wrote included.
const knownPartTypes = " text reasoning file tool subtask agent step-start step-finish snapshot patch retry compaction "

// newestMessages is how many of a session's messages [unknownPartTypes] examines.
const newestMessages = 50

// unknownPartTypes returns the types of parts of the newest messages that this package does not know.
func unknownPartTypes(rows rowReader) []string {
	kinds := storage.Kinds{Known: knownPartTypes + knownV2Types}
	n := 0
	for m := range rows.Newest(cursor{}) {
		if m.Type != "" {
			addV2Kinds(&kinds, m)
		}
		for p := range rows.Parts(m.ID) {
			kinds.Add(partType(p.Head))
		}
		if n++; n == newestMessages {
			break
		}
	}
	return kinds.Unknown
}

// storedMessage is a stored message without its parts. Times are in milliseconds since 1970.
type storedMessage struct {
	ID                 string
	kind               string // of a message of OpenCode 2; "" for one of OpenCode 1
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
			m.summary = v.IsTrue()
		case "time":
			m.Created, m.Completed = o.Get("created").Int(), o.Get("completed").Int()
		case "model":
			m.provider, m.Model = o.Get("providerID").Text(nameLimit), o.Get("modelID").Text(nameLimit)
			m.Variant = cmp.Or(o.Get("variant").Text(nameLimit), m.Variant)
		case "tokens":
			m.tokens = parseTokens(o)
		case "cost":
			m.cost = max(v.Float(), 0)
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
			p.hidden = p.hidden || v.IsTrue()
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

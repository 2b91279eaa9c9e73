package pi

import (
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// entry is one line of a session's file. Entries form a tree: each has an ID and that of the one before it. Files of version 1 have none
// (READ 1.5.2).
type entry struct {
	storage.Object
	Type, ID, Parent string
	Timestamp        storage.Value
	// Role and message are those of a message.
	Role    string
	message storage.Object
}

// The types of entries, and the roles of messages, that are read.
const (
	typeSession    = "session" // the first line
	typeMessage    = "message"
	typeModel      = "model_change"
	typeThinking   = "thinking_level_change"
	typeInfo       = "session_info"
	typeEdit       = "context_edit"
	typeCompaction = "compaction"
	typeSummary    = "branch_summary"
	typeUsage      = "usage"
	typeExtension  = "custom_message"

	roleUser      = "user"
	roleAssistant = "assistant"
	roleResult    = "toolResult"
	roleShell     = "bashExecution" // a command that the user ran by !
)

// idLimit is the most characters of an entry's or call's ID that are kept. Real ones have 8 to 64.
const idLimit = 200

// parseEntry parses a line. ok is false if it is damaged.
func parseEntry(line []byte) (e entry, ok bool) {
	e.Object = line
	ok = e.Scan(func(key []byte, v storage.Value) int {
		switch string(key) {
		case "type":
			e.Type = v.Word(typeMessage, typeSession, typeModel, typeThinking, typeEdit, typeUsage)
		case "id":
			e.ID = v.Text(idLimit)
		case "parentId":
			e.Parent = v.Text(idLimit)
		case "timestamp":
			e.Timestamp = v
		case "message":
			e.message = v.Object()
		}
		return 0
	})
	if e.Type == typeMessage {
		e.Role = e.message.Get("role").Word(roleUser, roleAssistant, roleResult)
	}
	return e, ok
}

// blockText is the type of a block of text, blockCall that of a tool call.
const (
	blockText = "text"
	blockCall = "toolCall"
)

// textOf joins the texts of a content, which is a string or a list of blocks. Without text, an image stands for itself.
func textOf(content storage.Value) string {
	if text := content.Text(0); text != "" {
		return text
	}
	var texts []string
	image := ""
	for block := range content.Elements() {
		switch block.Object().Get("type").Word(blockText) {
		case blockText:
			texts = append(texts, block.Object().Get("text").Text(0))
		case "image":
			image = "[image]"
		}
	}
	if text := strings.Join(texts, "\n"); text != "" {
		return text
	}
	return image
}

// name returns the name that an entry of type session_info gives the session.
func (e *entry) name() string { return strings.TrimSpace(e.Get("name").Text(nameLimit)) }

// nameLimit is the most characters of a session's name.
const nameLimit = 1000

// idOfFile returns the ID of the session with a file of this path; "" if it is none's.
func idOfFile(path string) string {
	name, _ := parseFileName(path[strings.LastIndexByte(path, '/')+1:])
	return name.id
}

// tokensOf returns what a member "usage" states: input excludes what was read from the cache and written to it, output includes the
// reasoning. ok is false without one.
func tokensOf(usage storage.Object) (t discover.Tokens, ok bool) {
	count := func(name string) int64 { return usage.Get(name).Int() }
	t = discover.Tokens{
		In: count("input"), Out: count("output"), CacheRead: count("cacheRead"), CacheWrite: count("cacheWrite"), Reasoning: count("reasoning"),
	}
	t.Total = t.In + t.Out + t.CacheRead + t.CacheWrite
	return t, t.Total > 0
}

// knownKinds are the types of entries that Pi writes, of messages with their roles (READ 1.5.2).
const knownKinds = " session message/system message/user message/assistant message/toolResult message/bashExecution message/custom" +
	" message/hookMessage message/branchSummary message/compactionSummary model_change thinking_level_change session_info compaction" +
	" context_edit usage branch_summary custom custom_message label "

func kindOf(o storage.Object) string {
	kind := storage.Kind(o.Get("type"))
	if kind == typeMessage {
		kind += "/" + storage.Kind(o.Get("message").Object().Get("role"))
	}
	return kind
}

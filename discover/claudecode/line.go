package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// line is what this package reads of one transcript record. Conversation records (user, assistant, system,
// attachment) carry the envelope; all others are notes about the session, mostly without time and directory.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	// The envelope.
	ParentUUID  string `json:"parentUuid"`
	IsSidechain bool   `json:"isSidechain"` // a sub-agent's, up to 2.0.x in the same file
	Timestamp   string `json:"timestamp"`   // RFC 3339, milliseconds, UTC
	Cwd         string `json:"cwd"`
	SessionID   string `json:"sessionId"`
	Version     string `json:"version"`
	GitBranch   string `json:"gitBranch"` // "HEAD" where there is none
	Entrypoint  string `json:"entrypoint"`
	// ForkedFrom is set on records that /branch copied.
	ForkedFrom struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`

	IsMeta            bool    `json:"isMeta"` // a user record that no person wrote
	IsCompactSummary  bool    `json:"isCompactSummary"`
	IsTranscriptOnly  bool    `json:"isVisibleInTranscriptOnly"`
	IsAPIErrorMessage bool    `json:"isApiErrorMessage"`
	RequestID         string  `json:"requestId"`
	Message           message `json:"message"`

	// Notes.
	CustomTitle     string `json:"customTitle"`
	AITitle         string `json:"aiTitle"`
	RelocatedCwd    string `json:"relocatedCwd"`
	WorktreeSession struct {
		Branch string `json:"worktreeBranch"`
	} `json:"worktreeSession"`
	TotalCostUSD *float64 `json:"totalCostUSD"`
}

type message struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	StopReason string          `json:"stop_reason"`
	Content    json.RawMessage `json:"content"`
	Usage      usage           `json:"usage"`
}

// usage is what the model's API counted for one message, in tokens.
type usage struct {
	In         int64 `json:"input_tokens"`
	Out        int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// synthetic is the model of messages that Claude Code wrote itself.
const synthetic = "<synthetic>"

// parseLine decodes one record. A field of an unexpected type is left empty; the others count.
func parseLine(raw []byte) (l line, ok bool) {
	err := json.Unmarshal(raw, &l)
	if err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return line{}, false
	}
	return l, true
}

func (l line) conversation() bool { return l.Type == "user" || l.Type == "assistant" }

// noteType returns the type of a record whose first key is its type, as it is of all notes; nil otherwise. It costs
// no parsing: notes may be megabytes long.
func noteType(raw []byte) []byte {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"type":"`))
	if !ok {
		return nil
	}
	i := bytes.IndexByte(rest, '"')
	if i < 0 {
		return nil
	}
	switch string(rest[:i]) {
	case "user", "assistant", "system", "attachment":
		return nil
	}
	return rest[:i]
}

// isAttachment tells an attachment, which may be large and never matters to the turn, from its first bytes.
func isAttachment(raw []byte) bool {
	return bytes.Contains(raw[:min(len(raw), 160)], []byte(`,"attachment":{`))
}

// timeOf finds the time of a record without parsing it. Keys inside of strings are escaped, and the envelope follows
// the payload, so the last one is the record's.
func timeOf(raw []byte) time.Time {
	key := []byte(`"timestamp":"`)
	i := bytes.LastIndex(raw, key)
	if i < 0 {
		return time.Time{}
	}
	value, _, ok := bytes.Cut(raw[i+len(key):], []byte{'"'})
	if !ok || len(value) > 40 {
		return time.Time{}
	}
	return parseTime(string(value))
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// block is one part of a message's content.
type block struct {
	Type      string `json:"type"` // text, tool_use, tool_result, thinking, image, …
	Text      string `json:"text"`
	ID        string `json:"id"`          // of a tool_use
	Name      string `json:"name"`        // of its tool
	ToolUseID string `json:"tool_use_id"` // of a tool_result
}

// blocks returns the content, whose short form is a string.
func (m message) blocks() []block {
	var text string
	if len(m.Content) > 0 && m.Content[0] == '"' && json.Unmarshal(m.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	if err := json.Unmarshal(m.Content, &list); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return nil
	}
	return list
}

// text joins the text blocks.
func text(blocks []block) string {
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

package generate

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// notes is what Claude Code keeps of a session beside the conversation.
type notes struct {
	title, ai []byte // the user's, none for most sessions; the agent's
	prompt    []byte // the newest
	stated    int    // how many bytes of the transcript there were when all was stated
}

// restate states all notes anew, as Claude Code does whenever it has written 32 KB since.
func (t *transcript) restate() {
	const most = 32 << 10
	if t.side || len(t.buf)-t.notes.stated < most {
		return
	}
	t.lastPrompt()
	t.rename()
	if !t.printMode() {
		t.settings()
	}
	if t.current() {
		t.latch()
	}
	t.notes.stated = len(t.buf)
}

// leave is what is appended when a session ends: the notes that do not stand in the last 32 KB as they are. A killed one has
// none of it.
func (t *transcript) leave() {
	if t.ending == cut {
		return
	}
	t.lastPrompt()
	if !t.current() {
		return
	}
	if t.printMode() {
		t.latch()
	}
	t.line(`{"type":"cost-state","sessionId":"%s","totalCostUSD":0.0236,"totalAPIDuration":228,"totalAPIDurationWithoutRetries":225,"totalToolDuration":210,"totalLinesAdded":0,"totalLinesRemoved":0,"totalDuration":1227,"startTime":%d,"modelUsage":{"%s":{"inputTokens":5325,"outputTokens":114,"thinkingTokens":0,"cacheReadInputTokens":22,"cacheCreationInputTokens":14,"webSearchRequests":0,"costUSD":0.0236}},"hasUnknownModelCost":false}`, t.id, t.start.UnixMilli(), t.model)
}

func (t *transcript) lastPrompt() {
	t.line(`{"type":"last-prompt","lastPrompt":%s,"leafUuid":%s,"sessionId":"%s"}`, onOneLine(t.notes.prompt), t.parent, t.id)
}

// rename gives the session its title, if it has one.
func (t *transcript) rename() {
	if t.notes.title != nil {
		t.line(`{"type":"custom-title","customTitle":"%s","sessionId":"%s"}`, t.notes.title, t.id)
		t.line(`{"type":"agent-name","agentName":"%s","sessionId":"%s"}`, t.notes.title, t.id)
	}
}

// settings are those of a terminal.
func (t *transcript) settings() {
	if !t.current() {
		t.line(`{"type":"ai-title","aiTitle":"%s","sessionId":"%s"}`, t.notes.ai, t.id)
	}
	t.line(`{"type":"mode","mode":"normal","sessionId":"%s"}`, t.id)
	t.line(`{"type":"permission-mode","permissionMode":"default","sessionId":"%s"}`, t.id)
}

func (t *transcript) latch() { t.line(`{"type":"atis-latch","atis":"","sessionId":"%s"}`, t.id) }

// onOneLine is a prompt as last-prompt gives it, a JSON string: at most 200 characters of it.
func onOneLine(prompt []byte) []byte {
	var text string
	if err := json.Unmarshal([]byte(`"`+string(prompt)+`"`), &text); err != nil {
		panic(err) // the words are made here
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if utf8.RuneCountInString(text) > 200 {
		text = strings.TrimSpace(string([]rune(text)[:200])) + "…"
	}
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return out
}

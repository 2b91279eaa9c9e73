package generate

import (
	"fmt"
	"time"
)

// turn writes some tool calls with their results, and the end of the turn if it is the last.
func (t *transcript) turn(last bool) {
	for n := t.steps(last); n > 0 || last && len(t.buf) < t.full; n-- {
		t.toolResult(t.toolCall())
	}
	if !last {
		if !t.printMode() {
			t.assistant("end_turn", t.textBlock())
			t.duration()
		}
		return
	}
	if t.longTail() {
		t.attachment(`"type":"prompt_snapshot","systemPrompt":["%s"]`, t.words.text(t.Rand, snapshot))
	}
	switch t.ending {
	case completed:
		t.assistant("end_turn", t.textBlock())
	case interrupted:
		t.record(fmt.Sprintf(`"promptId":"%s","type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}`, t.prompt), "")
	case failed:
		t.record(`"type":"assistant"`, fmt.Sprintf(`,"message":{"id":"%s","container":null,"model":"<synthetic>","role":"assistant","stop_details":null,"stop_reason":"stop_sequence","stop_sequence":"","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: 529"}],"context_management":null},"error":"server_error","isApiErrorMessage":true,"apiErrorStatus":529`, t.uuid()))
	case cut:
		t.toolCall()
		return
	}
	if !t.printMode() && t.ending != interrupted {
		t.duration()
	}
}

func (t *transcript) duration() {
	t.put(fmt.Sprintf(`"type":"system","subtype":"turn_duration","durationMs":%d,"messageCount":4`, 100+t.IntN(100_000)),
		`"timestamp":"%[2]s","uuid":"%[1]s"`, `,"isMeta":false`)
}

func (t *transcript) user(text []byte) {
	t.prompt, t.notes.prompt = t.uuid(), text
	if !t.printMode() && !t.side {
		id := t.uuid()
		t.line(`{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":{},"timestamp":"%s"},"isSnapshotUpdate":false}`, id, id, iso(t.now))
	}
	source := "typed"
	if t.printMode() {
		source = "sdk"
	}
	after := fmt.Sprintf(`,"permissionMode":"default","promptSource":"%s"`, source)
	if t.current() {
		after += fmt.Sprintf(`,"turnOrigin":"%s","turnPosition":{"promptIndex":0,"turnIndex":1}`, source)
	}
	t.record(fmt.Sprintf(`"promptId":"%s","type":"user","message":{"role":"user","content":"%s"}`, t.prompt, text), after)
}

func (t *transcript) attachment(format string, args ...any) {
	t.record(fmt.Sprintf(`"attachment":{%s},"type":"attachment"`, fmt.Appendf(nil, format, args...)), "")
}

// toolCall writes one message as two records, as Claude Code does for a message of two blocks: same id, same usage. It
// returns the id of the call.
func (t *transcript) toolCall() string {
	usage, id, call := t.usage(), "msg_"+t.hex(24), "toolu_"+t.hex(24)
	t.message(id, "tool_use", usage, t.textBlock())
	t.message(id, "tool_use", usage, fmt.Appendf(nil,
		`{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"%s","description":"run it"}}`, call, t.words.text(t.Rand, 120)))
	return call
}

func (t *transcript) toolResult(call string) {
	out := t.words.text(t.Rand, 200+int(t.ExpFloat64()*2500))
	after := fmt.Sprintf(`,"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`, out)
	if t.current() {
		after += `,"sandboxed":false`
	}
	if after += `,"sourceToolAssistantUUID":` + t.parent; t.current() {
		after += `,"permissionDecision":{"decision":"accept","source":"config","reasonType":"rule","ruleSource":"cliArg"}`
	}
	t.record(fmt.Sprintf(`"promptId":"%s","type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":"%s","is_error":false}]}`, t.prompt, call, out), after)
}

func (t *transcript) textBlock() []byte {
	return fmt.Appendf(nil, `{"type":"text","text":"%s"}`, t.words.text(t.Rand, 100+int(t.ExpFloat64()*500)))
}

func (t *transcript) assistant(stop string, block []byte) {
	t.message("msg_"+t.hex(24), stop, t.usage(), block)
}

func (t *transcript) usage() string {
	return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":"","iterations":[],"speed":"standard"}`,
		t.IntN(5000), t.IntN(2000), t.IntN(150_000), t.IntN(1500))
}

func (t *transcript) message(id, stop, usage string, block []byte) {
	after := ""
	if t.current() {
		after = `,"effort":"medium","perTurnEffort":"medium","madeBy":"model"`
	}
	t.record(fmt.Sprintf(`"message":{"id":"%s","type":"message","role":"assistant","model":"%s","content":[%s],"stop_reason":"%s","stop_sequence":null,"usage":%s,"stop_details":null},"requestId":"req_%s","type":"assistant"`,
		id, t.model, block, stop, usage, id[4:]), after)
}

// record writes one record of the conversation: what it says stands before or after its name and time, between the links and
// the envelope that all have.
func (t *transcript) record(before, after string) {
	t.put(before, `"uuid":"%[1]s","timestamp":"%[2]s"`, after)
}

// put is record with the name and time in this form.
func (t *transcript) put(before, moment, after string) {
	t.now = t.now.Add(time.Duration(50+t.IntN(1500)) * time.Millisecond)
	id := t.uuid()
	t.line(`{"parentUuid":%s,"isSidechain":%t,%s,%s%s,"userType":"external","entrypoint":"%s","cwd":"%s","sessionId":"%s","version":"%s","gitBranch":"%s"}`,
		t.parent, t.side, before, fmt.Sprintf(moment, id, iso(t.now)), after, t.entry, t.dir(), t.id, t.version, t.branch)
	t.parent = `"` + id + `"`
	t.restate()
}

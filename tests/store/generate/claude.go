package generate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// writeClaude makes a Claude Code home: transcripts at projects/<directory>/<id>.jsonl, a fifth as many projects as
// transcripts, and some sub-agents' transcripts beside them.
func writeClaude(home string, o Options, words prose, list []Session) error {
	for _, dir := range []string{"projects", "sessions"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			return err
		}
	}
	return each(len(list), func(i int) error {
		p := o.plan(1, i, len(list))
		id := p.uuid()
		t := newTranscript(p, words, id)
		t.session(p.size)
		dir := filepath.Join(home, "projects", strings.ReplaceAll(p.dir(), "/", "-"))
		path := filepath.Join(dir, id+".jsonl")
		list[i] = Session{"claude-code", id, path, p.dir(), t.now, len(t.buf)}
		if p.IntN(20) == 0 {
			sub := newTranscript(p, words, id)
			sub.sidechain()
			name := filepath.Join(dir, id, "subagents", "agent-a"+p.hex(16)+".jsonl")
			if err := save(name, sub.buf, sub.now); err != nil {
				return err
			}
		}
		return save(path, t.buf, t.now)
	})
}

// transcript is a Claude Code transcript in the making.
type transcript struct {
	plan
	words   prose
	buf     []byte
	id      string
	parent  string // uuid of the record before, in JSON
	now     time.Time
	prompt  string // promptId of the turn
	entry   string // sdk-cli for print mode, cli for the terminal interface
	version string
	model   string
	side    bool
	full    int // bytes after which the last turn ends
	notes   notes
}

func newTranscript(p plan, words prose, id string) *transcript {
	t := &transcript{
		plan: p, words: words, id: id, parent: "null", now: p.start,
		entry: "cli", version: "2.1.197", model: "claude-opus-4-8",
	}
	if p.IntN(2) == 0 {
		t.entry = "sdk-cli"
	}
	if p.IntN(2) == 0 {
		t.version, t.model = "2.1.329", "claude-opus-5-5"
	}
	return t
}

func (t *transcript) printMode() bool { return t.entry == "sdk-cli" }
func (t *transcript) current() bool   { return t.version == "2.1.329" }

// session writes turns until the size is reached; the last of them ends as planned.
func (t *transcript) session(size int) {
	if t.IntN(10) == 0 {
		t.notes.title = t.words.text(t.Rand, 20)
	}
	t.notes.ai = t.words.text(t.Rand, 30)
	t.head(t.words.prompt(t.Rand, 40+t.IntN(400)))
	t.full = size
	if t.longTail() {
		t.full -= snapshot
	}
	for first := true; ; first = false {
		last := len(t.buf) > t.full-lastTurn
		t.turn(last)
		if last {
			break
		}
		if t.printMode() {
			continue // print mode has one prompt; its turn goes on
		}
		if first {
			t.rename()
		}
		t.user(t.words.prompt(t.Rand, 40+t.IntN(200)))
	}
	t.leave()
}

// snapshot is the length of a record that lies between the conversation and the end of the newer, larger transcripts:
// readers of a fixed tail see no conversation at all.
const snapshot = 55_000

func (t *transcript) longTail() bool { return t.current() && !t.side && t.size > 150_000 }

// sidechain writes a sub-agent's short transcript.
func (t *transcript) sidechain() {
	t.side = true
	t.user(t.words.text(t.Rand, 300))
	t.ending = completed
	t.turn(true)
}

func (t *transcript) head(first []byte) {
	if t.printMode() {
		t.rename()
		t.line(`{"type":"queue-operation","operation":"enqueue","timestamp":"%s","sessionId":"%s","content":"%s"}`, iso(t.now), t.id, first)
		t.line(`{"type":"queue-operation","operation":"dequeue","timestamp":"%s","sessionId":"%s"}`, iso(t.now), t.id)
	} else {
		t.settings()
	}
	t.user(first)
	if t.current() {
		t.attachment(`"type":"environment","snapshot":{"workingDirectory":"%s","isWorktree":false,"isGitRepo":true,"additionalWorkingDirectories":[],"platform":"linux","shell":"bash","osVersion":"Linux"}`, t.dir())
		t.attachment(`"type":"model","identity":{"modelId":"%s"},"text":"%s"`, t.model, t.words.text(t.Rand, 120))
	}
	t.attachment(`"type":"agent_listing_delta","addedTypes":["general-purpose"],"addedLines":["%s"],"removedTypes":[],"isInitial":true,"showConcurrencyNote":true`, t.words.text(t.Rand, 3000))
	t.attachment(`"type":"skill_listing","content":"%s","skillCount":13,"isInitial":true,"names":["verify"]`, t.words.text(t.Rand, 12_000))
	if t.current() {
		t.latch()
		t.attachment(`"type":"prompt_snapshot","systemPrompt":["%s"]`, t.words.text(t.Rand, 7000))
	}
}

func (t *transcript) line(format string, args ...any) {
	t.buf = fmt.Appendf(t.buf, format, args...)
	t.buf = append(t.buf, '\n')
}

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

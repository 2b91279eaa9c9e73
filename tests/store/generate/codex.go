package generate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// writeCodex makes a Codex home: rollouts at sessions/YYYY/MM/DD in both dialects, a twentieth of them archived, some
// named, and the empty lock files that killed processes leave behind.
func writeCodex(home string, o Options, words prose, list []Session) error {
	names := make([][]byte, len(list))
	err := each(len(list), func(i int) error {
		p := o.plan(2, i, len(list))
		r := newRollout(p, words)
		r.session()
		file := "rollout-" + p.start.UTC().Format("2006-01-02T15-04-05-") + r.id + ".jsonl"
		dir := filepath.Join("sessions", p.start.UTC().Format("2006/01/02"))
		if p.IntN(20) == 0 {
			dir = "archived_sessions"
		}
		path := filepath.Join(home, dir, file)
		list[i] = Session{"codex", r.id, path, p.dir(), r.now, len(r.buf)}
		if p.IntN(20) == 0 {
			names[i] = fmt.Appendf(nil, `{"id":"%s","thread_name":"%s","updated_at":"%s"}`+"\n", r.id, words.text(p.Rand, 20), iso(r.now))
		}
		if r.paginated && p.ending == cut {
			if err := save(filepath.Join(home, "thread-writer-locks", r.id+".lock"), nil, r.now); err != nil {
				return err
			}
		}
		return save(path, r.buf, r.now)
	})
	if err != nil {
		return err
	}
	var index []byte
	for _, line := range names {
		index = append(index, line...)
	}
	return os.WriteFile(filepath.Join(home, "session_index.jsonl"), index, 0o600)
}

// rollout is a Codex rollout in the making, in one of two dialects: paginated (0.169.0) or legacy (0.130.0).
type rollout struct {
	plan
	words     prose
	buf       []byte
	id        string
	turnID    string
	now       time.Time
	ordinal   int
	paginated bool
	tui       bool
	total     int // tokens
}

func newRollout(p plan, words prose) *rollout {
	return &rollout{
		plan: p, words: words, id: p.uuid7(p.start), now: p.start,
		paginated: p.IntN(10) < 6, tui: p.IntN(2) == 0,
	}
}

func (r *rollout) session() {
	r.meta()
	for {
		last := len(r.buf) > r.size-lastTurn
		r.turn(last)
		if last {
			return
		}
	}
}

// meta is the first line. The agent's instructions, the same in all of a version, make it as long as it is.
func (r *rollout) meta() {
	source, originator := "exec", "codex_exec"
	if r.tui {
		source, originator = "cli", "codex-tui"
	}
	git := fmt.Sprintf(`"git":{"commit_hash":"%s","branch":"%s","repository_url":"https://example.invalid/x/repo.git"}`, r.hex(40), r.branch)
	base := r.words.instructions(r.paginated)
	if r.paginated {
		r.line("session_meta", `"account_scoped":true,"session_id":"%s","id":"%s","timestamp":"%s","cwd":"%s","runtime_workspace_roots":["%s"],"originator":"%s","cli_version":"0.169.0","source":"%s","thread_source":"user","model_provider":"openai","base_instructions":{"text":"%s","provenance":{"type":"model","model":"gpt-5.4"}},"history_mode":"paginated","context_window":{"window_id":"%s"},%s`,
			r.id, r.id, iso(r.now), r.dir(), r.dir(), originator, source, base, r.uuid7(r.now), git)
		return
	}
	r.line("session_meta", `"id":"%s","timestamp":"%s","cwd":"%s","originator":"%s","cli_version":"0.130.0","source":"%s","model_provider":"openai","base_instructions":{"text":"%s"},%s`,
		r.id, iso(r.now), r.dir(), originator, source, base, git)
}

// event writes an event_msg: its keys after the type.
func (r *rollout) event(kind, format string, args ...any) {
	r.line("event_msg", `"type":"%s",%s`, kind, fmt.Appendf(nil, format, args...))
}

func (r *rollout) item(kind, format string, args ...any) {
	r.line("response_item", `"type":"%s",%s`, kind, fmt.Appendf(nil, format, args...))
}

func (r *rollout) line(kind, format string, args ...any) {
	r.now = r.now.Add(time.Duration(20+r.IntN(1500)) * time.Millisecond)
	r.buf = fmt.Appendf(r.buf, `{"timestamp":"%s",`, iso(r.now))
	if r.paginated {
		r.buf = fmt.Appendf(r.buf, `"ordinal":%d,`, r.ordinal)
		r.ordinal++
	}
	r.buf = fmt.Appendf(r.buf, `"type":"%s","payload":{`, kind)
	r.buf = fmt.Appendf(r.buf, format, args...)
	r.buf = append(r.buf, "}}\n"...)
}

// quoted turns escaped text into a JSON string within a JSON string, as the arguments of a call are.
func quoted(text []byte) []byte {
	out, err := json.Marshal(`{"cmd":"` + string(text) + `"}`)
	if err != nil {
		panic(err) // a string always marshals
	}
	return out
}

// turn writes one whole turn; the last of a session ends as planned.
func (r *rollout) turn(last bool) {
	r.turnID = r.uuid7(r.now)
	r.event("task_started", `"turn_id":"%s","started_at":%d,"model_context_window":258400,"collaboration_mode_kind":"default"`, r.turnID, r.now.Unix())
	r.context()
	r.userMessage()
	for n := r.steps(last); n > 0 || last && len(r.buf) < r.size; n-- {
		r.toolResult(r.toolCall())
	}
	if !last || r.ending == completed {
		text := r.words.text(r.Rand, 100+int(r.ExpFloat64()*600))
		r.agentMessage(text)
		r.tokens()
		r.complete(`"last_agent_message":"%s"`, text)
		return
	}
	switch r.ending {
	case interrupted:
		r.event("turn_aborted", `"turn_id":"%s","reason":"interrupted","completed_at":%d,"duration_ms":1200`, r.turnID, r.now.Unix())
	case failed:
		reason := "" // the legacy dialect does not tell
		if r.paginated {
			reason = `,"error":{"message":"unexpected status 401 Unauthorized","codex_error_info":{"http_connection_failed":{"http_status_code":401}}}`
		}
		r.complete(`"last_agent_message":null%s`, reason)
	case cut:
		r.toolCall()
	}
}

// context is what the agent tells its model before the user's words.
func (r *rollout) context() {
	first := r.paginated && r.total == 0
	if first {
		r.item("message", `"id":"msg_%s","role":"developer","content":[{"type":"input_text","text":"<skills_instructions>%s"}]`, r.hex(32), r.words.text(r.Rand, 3000))
	}
	r.item("message", `"role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for %s\n\n%s"},{"type":"input_text","text":"<environment_context>\n  <cwd>%s</cwd>\n</environment_context>"}]`,
		r.dir(), r.words.text(r.Rand, 1000), r.dir())
	if first {
		r.line("world_state", `"full":true,"state":{"agents_md":{"directory":"%s","text":"%s"},"apps_instructions":false}`, r.dir(), r.words.text(r.Rand, 3000))
	}
	r.line("turn_context", `"turn_id":"%s","cwd":"%s","approval_policy":"never","sandbox_policy":{"type":"read-only"},"model":"gpt-5.4","collaboration_mode":{"mode":"default","settings":{"model":"gpt-5.4","reasoning_effort":null,"developer_instructions":null}},"realtime_active":false,"summary":"none"`,
		r.turnID, r.dir())
}

func (r *rollout) userMessage() {
	text := r.words.prompt(r.Rand, 40+r.IntN(400))
	r.item("message", `"role":"user","content":[{"type":"input_text","text":"%s"}]`, text)
	if r.paginated {
		r.completed("UserMessage", r.uuid7(r.now), `"content":[{"type":"text","text":"%s","text_elements":[]}]`, text)
		return
	}
	r.event("user_message", `"message":"%s","images":[],"local_images":[],"text_elements":[]`, text)
}

func (r *rollout) agentMessage(text []byte) {
	id := "msg_" + r.hex(32)
	if r.paginated {
		r.completed("AgentMessage", id, `"content":[{"type":"Text","text":"%s"}]`, text)
	} else {
		r.event("agent_message", `"message":"%s","phase":null,"memory_citation":null`, text)
	}
	r.item("message", `"id":"%s","role":"assistant","content":[{"type":"output_text","text":"%s"}]`, id, text)
}

func (r *rollout) toolCall() (call string) {
	call = "call_" + r.hex(20)
	r.item("function_call", `"name":"exec_command","arguments":%s,"call_id":"%s"`, quoted(r.words.text(r.Rand, 150)), call)
	return call
}

func (r *rollout) toolResult(call string) {
	out := r.words.text(r.Rand, 200+int(r.ExpFloat64()*2500))
	if r.paginated {
		r.completed("CommandExecution", call, `"command":["/bin/bash"],"cwd":"file://%s","status":"completed","aggregated_output":"%s","exit_code":0,"duration":{"secs":7,"nanos":0}`, r.dir(), out)
	}
	r.item("function_call_output", `"call_id":"%s","output":"%s"`, call, out)
	r.tokens()
}

// completed writes an item_completed event, which only the paginated dialect has.
func (r *rollout) completed(kind, id, format string, args ...any) {
	ms := r.now.UnixMilli()
	r.event("item_completed", `"thread_id":"%s","turn_id":"%s","item":{"type":"%s","id":"%s",%s},"started_at_ms":%d,"completed_at_ms":%d`,
		r.id, r.turnID, kind, id, fmt.Appendf(nil, format, args...), ms, ms)
}

func (r *rollout) tokens() {
	in, out := 500+r.IntN(5000), r.IntN(800)
	r.total += in + out
	last := fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}`, in, out, in+out)
	sum := fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":%d}`, r.total, r.total)
	if r.paginated {
		r.line("token_usage_record", `"thread_id":"%s","turn_id":"%s","usage":%s,"turn_token_usage":%s,"thread_token_usage":%s`, r.id, r.turnID, last, last, sum)
	}
	r.event("token_count", `"info":{"total_token_usage":%s,"last_token_usage":%s,"model_context_window":258400},"rate_limits":{"limit_id":"codex","primary":null,"secondary":null}`, sum, last)
}

func (r *rollout) complete(format string, args ...any) {
	r.event("task_complete", `"turn_id":"%s",%s,"completed_at":%d,"duration_ms":5038`, r.turnID, fmt.Appendf(nil, format, args...), r.now.Unix())
}

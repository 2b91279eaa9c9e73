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

package generate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
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

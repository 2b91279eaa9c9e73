package generate

import (
	"database/sql"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver
)

//go:embed opencode.sql
var openCodeSchema string

// writeOpenCode makes an OpenCode home: one database in WAL mode, at rest.
func writeOpenCode(home string, o Options, words prose, list []Session) (err error) {
	path := filepath.Join(home, "opencode.db")
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=foreign_keys(off)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	if _, err := db.Exec(openCodeSchema); err != nil {
		return err
	}
	if err := fill(db, o, words, list); err != nil {
		return err
	}
	if _, err := db.Exec("PRAGMA journal_mode=wal"); err != nil {
		return err
	}
	for i := range list {
		list[i].Path = path
	}
	return os.Chmod(path, 0o644)
}

// fill inserts every session in one transaction.
func fill(db *sql.DB, o Options, words prose, list []Session) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	w := &openCode{words: words}
	if err := w.prepare(tx); err != nil {
		return err
	}
	for project := range max(1, len(list)/perProject) {
		p := plan{project: project}
		if _, err := tx.Exec("INSERT INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES (?,?,'git',?,?,'[]')",
			projectID(project), p.dir(), o.End.UnixMilli(), o.End.UnixMilli()); err != nil {
			return err
		}
	}
	for _, p := range o.inTime(3, len(list)) { // as they come to be
		if list[p.index], err = w.session(p); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// projectID stands for the hash of a repository's first commit.
func projectID(n int) string { return fmt.Sprintf("%040x", 0xd2304ff913de+n) }

// openCode inserts sessions with their messages and parts.
type openCode struct {
	words                           prose
	insSession, insMessage, insPart *sql.Stmt
}

func (w *openCode) prepare(tx *sql.Tx) error {
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&w.insSession, `INSERT INTO session (id, project_id, parent_id, slug, directory, path, title, version, summary_additions,
			summary_deletions, summary_files, cost, tokens_input, tokens_output, tokens_cache_read, agent, model, time_created,
			time_updated, time_archived) VALUES (?,?,?,'eager-island',?,'',?,'1.18.33',0,0,0,?,?,?,?,'build',?,?,?,?)`},
		{&w.insMessage, "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?,?,?,?,?)"},
		{&w.insPart, "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?,?,?,?,?,?)"},
	} {
		stmt, err := tx.Prepare(s.sql)
		if err != nil {
			return err
		}
		*s.to = stmt
	}
	return nil
}

// ids of OpenCode: the time and a counter in 12 hexadecimal digits, then 14 letters and digits. Those of sessions
// have the bits of the time turned over, so that they sort newest first.
func (p plan) openCodeID(kind string, at time.Time, counter int) string {
	n := uint64(at.UnixMilli())<<12 + uint64(counter)
	if kind == "ses" {
		n = ^n
	}
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return fmt.Sprintf("%s_%012x%s", kind, n&(1<<48-1), p.pick(base62, 14))
}

// conversation is one OpenCode session in the making.
type conversation struct {
	*openCode
	plan
	id      string
	now     time.Time
	counter int
	bytes   int
	user    string // id of the turn's user message
	in, out int
	err     error // the first; nothing is inserted after it
}

const openCodeModel = `{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}`

// session inserts one session, and now and then a sub-agent's below it.
func (w *openCode) session(p plan) (Session, error) {
	c := &conversation{openCode: w, plan: p, now: p.start, id: p.openCodeID("ses", p.start, 1)}
	for {
		last := c.bytes > p.size-lastTurn
		c.turn(last)
		if last || c.err != nil {
			break
		}
	}
	var archived any
	if p.IntN(20) == 0 {
		archived = c.now.UnixMilli()
	}
	c.row(nil, archived)
	made := Session{Agent: "opencode", ID: c.id, Dir: p.dir(), Updated: c.now, Bytes: c.bytes}
	if p.IntN(20) == 0 && c.err == nil {
		child := &conversation{openCode: w, plan: p, now: p.start, id: p.openCodeID("ses", p.start, 2)}
		child.turn(false)
		child.row(c.id, nil)
		c.err = child.err
	}
	return made, c.err
}

func (c *conversation) row(parent, archived any) {
	if c.err != nil {
		return
	}
	_, c.err = c.insSession.Exec(c.id, projectID(c.project), parent, c.dir(), "Session about "+c.pick("abcdefgh ", 20),
		float64(c.out)*0.000015, c.in, c.out, 11, openCodeModel, c.start.UnixMilli(), c.now.UnixMilli(), archived)
}

// turn inserts a prompt, some steps with a tool call each, and an answer; the last turn ends as planned.
func (c *conversation) turn(last bool) {
	c.user = c.message(`{"role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}`, c.now.UnixMilli())
	c.part(c.user, `{"type":"text","text":"%s"}`, c.words.prompt(c.Rand, 40+c.IntN(400)))
	for n := c.steps(last); n > 0 || last && c.bytes < c.size && c.err == nil; n-- {
		c.step()
	}
	if !last || c.ending == completed {
		c.answer()
		return
	}
	switch c.ending {
	case interrupted:
		c.assistant(`"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}},`, "", true)
	case failed:
		c.assistant(`"error":{"name":"APIError","data":{"message":"Unauthorized","statusCode":401,"isRetryable":false}},`, "", true)
	case cut:
		m := c.assistant("", "", false)
		c.part(m, `{"type":"tool","tool":"bash","callID":"toolu_%s","state":{"status":"running","input":{"command":"sleep 9","description":"run it"},"metadata":{"output":""},"time":{"start":%d}}}`, c.hex(8), c.now.UnixMilli())
	}
}

func (c *conversation) step() {
	m := c.assistant("", "tool-calls", true)
	c.part(m, `{"snapshot":"%s","type":"step-start"}`, c.hex(40))
	out, ms := c.words.text(c.Rand, 200+int(c.ExpFloat64()*2500)), c.now.UnixMilli()
	c.part(m, `{"type":"tool","tool":"bash","callID":"toolu_%s","state":{"status":"completed","input":{"command":"%s","description":"run it"},"output":"%s","metadata":{"output":"%s","exit":0,"truncated":false},"title":"run it","time":{"start":%d,"end":%d}}}`,
		c.hex(8), c.words.text(c.Rand, 100), out, out, ms, ms+700)
	c.finish(m, "tool-calls")
}

func (c *conversation) answer() {
	m := c.assistant("", "stop", true)
	c.part(m, `{"snapshot":"%s","type":"step-start"}`, c.hex(40))
	c.part(m, `{"type":"text","text":"%s","time":{"start":%d,"end":%d}}`, c.words.text(c.Rand, 100+int(c.ExpFloat64()*600)), c.now.UnixMilli(), c.now.UnixMilli())
	c.finish(m, "stop")
}

func (c *conversation) finish(message, reason string) {
	c.part(message, `{"reason":"%s","snapshot":"%s","type":"step-finish","tokens":{"total":308,"input":185,"output":105,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00215955}`, reason, c.hex(40))
}

// assistant inserts an assistant's message; one that was never completed is still being written.
func (c *conversation) assistant(failure, finish string, done bool) string {
	ms := c.now.UnixMilli()
	times := fmt.Sprintf(`{"created":%d}`, ms)
	if done {
		times = fmt.Sprintf(`{"created":%d,"completed":%d}`, ms, ms+900)
	}
	if finish != "" {
		finish = `,"finish":"` + finish + `"`
	}
	c.in, c.out = c.in+185, c.out+105
	return c.message(`{"parentID":"%s","role":"assistant","mode":"build","agent":"build","path":{"cwd":"%s","root":"%s"},"cost":0.00215955,"tokens":{"total":308,"input":185,"output":105,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic",%s"time":%s%s}`,
		c.user, c.dir(), c.dir(), failure, times, finish)
}

func (c *conversation) message(format string, args ...any) string {
	c.tick()
	id := c.openCodeID("msg", c.now, c.counter)
	c.insert(func(ms int64, data []byte) error {
		_, err := c.insMessage.Exec(id, c.id, ms, ms, string(data))
		return err
	}, format, args...)
	return id
}

func (c *conversation) part(message, format string, args ...any) {
	c.tick()
	id := c.openCodeID("prt", c.now, c.counter)
	c.insert(func(ms int64, data []byte) error {
		_, err := c.insPart.Exec(id, message, c.id, ms, ms, string(data))
		return err
	}, format, args...)
}

func (c *conversation) insert(do func(ms int64, data []byte) error, format string, args ...any) {
	if c.err != nil {
		return
	}
	data := fmt.Appendf(nil, format, args...)
	c.bytes += len(data)
	c.err = do(c.now.UnixMilli(), data)
}

func (c *conversation) tick() {
	c.now = c.now.Add(time.Duration(20+c.IntN(800)) * time.Millisecond)
	c.counter = (c.counter + 1) % 4096
}

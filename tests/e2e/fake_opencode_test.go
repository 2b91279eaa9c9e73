package e2e_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver
	"golang.org/x/sys/unix"
)

// openCode leaves what OpenCode 1.18 leaves: one database of all processes, and one log that each appends to under
// the name of its run.
type openCode struct {
	data, cwd string
	headless  bool
	json      bool // prints events
	title     string
	model     string // and its provider
	provider  string
	fork      string // the session to begin with a copy of
	stuck     bool   // it will never end
	run       string
	db        *sql.DB
	log       *os.File
	id        string
	question  string // the user's message
	answer    string // the assistant's
	command   string // that it has asked for
	serial    int64
}

// tables are those of 1.18 that the fake fills.
const tables = `
create table if not exists session (id text primary key, project_id text not null, parent_id text, slug text not null,
	directory text not null, path text, title text not null, version text not null, permission text, agent text, model text,
	cost real default 0 not null, tokens_input integer default 0 not null, tokens_output integer default 0 not null,
	tokens_reasoning integer default 0 not null, tokens_cache_read integer default 0 not null,
	tokens_cache_write integer default 0 not null, time_created integer not null, time_updated integer not null,
	time_compacting integer, time_archived integer);
create table if not exists message (id text primary key, session_id text not null, time_created integer not null,
	time_updated integer not null, data text not null);
create table if not exists part (id text primary key, message_id text not null, session_id text not null,
	time_created integer not null, time_updated integer not null, data text not null);
create index if not exists message_session on message (session_id, time_created, id);
create index if not exists part_message on part (message_id, id);`

func newOpenCode() *openCode {
	return &openCode{
		data: filepath.Join(home("XDG_DATA_HOME", ".local", "share"), "opencode"), cwd: workDir(),
		headless: slices.Contains(os.Args, "run"), run: uuid(4)[:8],
		provider: "anthropic", model: "claude-sonnet-4-5",
	}
}

func (o *openCode) handle(verb, rest string) (string, error) {
	switch verb {
	case "begin": // a session is made
		if err := o.open(); err != nil {
			return "", err
		}
		return o.begin()
	case "prompt": // TEXT
		return "", o.prompt(unquoted(rest))
	case "tool": // COMMAND: it runs, as its live output shows
		return "", o.call(rest, object{"output", ""})
	case "ask": // for permission to run COMMAND
		if err := o.call(rest, nil); err != nil {
			return "", err
		}
		return "", o.say(`message=asking id=%s permission=bash patterns="[\"%s\"]"`, o.name("per"), rest)
	case "return": // TEXT: the call does
		return "", o.returned(unquoted(rest))
	case "answer": // TEXT
		return "", o.complete(object{"finish", "stop"}, rest)
	case "fail": // TEXT
		return "", o.complete(object{"error", object{"name", "APIError", "data", object{"message", rest, "statusCode", 500}}}, "")
	case "lock": // a transaction keeps everybody else out until the process ends
		_, err := o.db.Exec("pragma locking_mode = exclusive; begin exclusive; update session set title = 'not committed'")
		return "", err
	case "title": // TEXT
		_, err := o.db.Exec("update session set title = ? where id = ?", unquoted(rest), o.id)
		return "", err
	}
	return "", errUnknownOrder
}

// open takes the database and the log, and keeps them.
func (o *openCode) open() (err error) {
	if o.db != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(o.data, "log"), 0o755); err != nil {
		return err
	}
	if err := o.create(); err != nil {
		return err
	}
	o.log, err = os.OpenFile(filepath.Join(o.data, "log", "opencode.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	return o.say("message=bootstrapping directory=%s", o.cwd)
}

// create makes the database and its tables, one process at a time: of several that change the journal's mode of a new
// database at once SQLite refuses all but one, whatever the time they would wait.
func (o *openCode) create() error {
	turn, err := os.Open(o.data)
	if err != nil {
		return err
	}
	defer turn.Close() // and the lock with it
	if err := unix.Flock(int(turn.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if o.db, err = sql.Open("sqlite3", "file:"+o.database()+
		"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(off)&_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)"); err != nil {
		return err
	}
	o.db.SetMaxOpenConns(1)
	_, err = o.db.Exec(tables)
	return err
}

// database is $OPENCODE_DB, which may be relative to the data folder, else opencode.db in that.
func (o *openCode) database() string {
	if db := os.Getenv("OPENCODE_DB"); filepath.IsAbs(db) {
		return db
	}
	return filepath.Join(o.data, cmp.Or(os.Getenv("OPENCODE_DB"), "opencode.db"))
}

func (o *openCode) say(format string, args ...any) error {
	_, err := fmt.Fprintf(o.log, "timestamp=%s level=INFO run=%s "+format+"\n", append([]any{stamp(), o.run}, args...)...)
	return err
}

// name makes an identifier: of sessions the newest sorts first, of all else the oldest.
func (o *openCode) name(prefix string) string {
	o.serial++
	n := time.Now().UnixMilli()*0x1000 + o.serial
	if prefix == "ses" {
		n = ^n
	}
	return fmt.Sprintf("%s_%012x%s", prefix, n&0xffffffffffff, strings.ReplaceAll(uuid(4), "-", "")[:14])
}

func now() int64 { return time.Now().UnixMilli() }

func (o *openCode) begin() (string, error) {
	o.id = o.name("ses")
	permission := ""
	if o.headless {
		permission = `[{"permission":"question","pattern":"*","action":"deny"}]`
	}
	if _, err := o.db.Exec(`insert into session (id, project_id, slug, directory, title, version, permission, agent, model,
		time_created, time_updated) values (?, 'global', 'quiet-river', ?, ?, '1.18.33', ?, 'build', ?, ?, ?)`,
		o.id, o.cwd, cmp.Or(o.title, "New session - "+stamp()), permission,
		string(lines(object{"id", o.model, "providerID", o.provider})), now(), now()); err != nil {
		return "", err
	}
	return "id=" + o.id, o.say("message=created id=%s slug=quiet-river version=1.18.33 directory=%s title=x", o.id, o.cwd)
}

func (o *openCode) message(data object) (id string, err error) {
	id = o.name("msg")
	_, err = o.db.Exec("insert into message values (?, ?, ?, ?, ?)", id, o.id, now(), now(), string(lines(data)))
	return id, err
}

func (o *openCode) part(message string, data object) error {
	_, err := o.db.Exec("insert into part values (?, ?, ?, ?, ?, ?)", o.name("prt"), message, o.id, now(), now(), string(lines(data)))
	return err
}

func (o *openCode) prompt(text string) (err error) {
	if o.question, err = o.message(object{
		"role", "user", "time",
		object{"created", now()},
		"agent", "build",
		"model",
		object{"providerID", o.provider, "modelID", o.model},
	}); err != nil {
		return err
	}
	if err := o.part(o.question, object{"type", "text", "text", text}); err != nil {
		return err
	}
	if o.answer, err = o.message(o.assistant(object{"time", object{"created", now()}})); err != nil {
		return err
	}
	if err := o.part(o.answer, object{"type", "step-start"}); err != nil {
		return err
	}
	return o.say("message=loop session.id=%s step=0", o.id)
}

func (o *openCode) assistant(more object) object {
	return append(object{
		"parentID", o.question, "role", "assistant", "mode", "build", "agent", "build", "path",
		object{"cwd", o.cwd, "root", o.cwd},
		"cost", 0.001, "tokens",
		object{"input", 10, "output", 5, "reasoning", 0, "cache", object{"read", 0, "write", 0}},
		"modelID", o.model, "providerID", o.provider,
	}, more...)
}

// call asks for a command, five seconds ago. One that runs has metadata; one that waits for permission has none yet.
func (o *openCode) call(command string, metadata object) error {
	state := object{"status", "running", "input", object{"command", command}}
	if metadata != nil {
		state = append(state, "metadata", metadata)
	}
	state = append(state, "time", object{"start", now() - 5000})
	o.command = command
	return o.part(o.answer, object{"type", "tool", "tool", "bash", "callID", "toolu_1", "state", state})
}

// returned changes the newest call into one that has.
func (o *openCode) returned(output string) error {
	_, err := o.db.Exec("update part set data = ?, time_updated = ? where id = (select max(id) from part where message_id = ?)",
		string(lines(object{"type", "tool", "tool", "bash", "callID", "toolu_1", "state", object{
			"status", "completed", "input",
			object{"command", o.command},
			"output", output, "title", o.command,
			"metadata",
			object{},
			"time",
			object{"start", now() - 5000, "end", now()},
		}})), now(), o.answer)
	return err
}

// complete ends the turn.
func (o *openCode) complete(how object, text string) error {
	if text != "" {
		if err := o.part(o.answer, object{"type", "text", "text", text, "time", object{"start", now(), "end", now()}}); err != nil {
			return err
		}
	}
	how = append(object{"time", object{"created", now(), "completed", now()}}, how...)
	if _, err := o.db.Exec("update message set data = ?, time_updated = ? where id = ?", string(lines(o.assistant(how))), now(), o.answer); err != nil {
		return err
	}
	if _, err := o.db.Exec("update session set time_updated = ?, tokens_input = tokens_input + 10, tokens_output = tokens_output + 5 where id = ?", now(), o.id); err != nil {
		return err
	}
	return o.say("message=\"exiting loop\" session.id=%s", o.id)
}

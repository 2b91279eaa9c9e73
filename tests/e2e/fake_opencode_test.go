package e2e_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver
	"golang.org/x/sys/unix"

	"agentctl/tests/directive"
	"agentctl/tests/opencode2"
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
	calls     int
	serial    int64
	server    permissionServer
}

// beOpenCode2 is the program of OpenCode 2, if the script asks for it. Both generations have one name.
func beOpenCode2() {
	if os.Getenv("OPENCODE_FAKE") == "2" {
		os.Exit(opencode2.Main(os.Args[1:]))
	}
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
	o.server.Lock()
	defer o.server.Unlock()
	switch verb {
	case "listen": // for requests: --port
		return "", o.listen()
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
		command, id := unquoted(rest), o.name("per")
		if err := o.call(command, nil); err != nil {
			return "", err
		}
		o.server.open = append(o.server.open, object{
			"id", id, "sessionID", o.id, "permission", "bash", "patterns",
			[]string{command},
			"metadata",
			object{"command", command},
			"always",
			[]string{"make *"},
			"tool",
			object{"callID", o.callID()},
		})
		return "request=" + id, o.say(`message=asking id=%s permission=bash patterns=%q`, id, fmt.Sprintf("[%q]", command))
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
	o.calls++
	return o.part(o.answer, object{"type", "tool", "tool", "bash", "callID", o.callID(), "state", state})
}

// callID is that of the newest call.
func (o *openCode) callID() string { return fmt.Sprintf("toolu_%d", o.calls) }

// returned changes the newest call into one that has.
func (o *openCode) returned(output string) error {
	return o.changeCall("completed", object{"output", output, "title", o.command, "metadata", object{}}, object{"start", now() - 5000, "end", now()})
}

// changeCall changes the state of the newest call.
func (o *openCode) changeCall(status string, more, at object) error {
	state := append(object{"status", status, "input", object{"command", o.command}, "time", at}, more...)
	_, err := o.db.Exec("update part set data = ?, time_updated = ? where id = (select max(id) from part where message_id = ?)",
		string(lines(object{"type", "tool", "tool", "bash", "callID", o.callID(), "state", state})), now(), o.answer)
	return err
}

// permissionServer is OpenCode's HTTP server, as far as it is about permissions.
type permissionServer struct {
	sync.Mutex // of the whole fake: requests come at any time
	open       []object
}

// listen takes requests on a port of loopback.
func (o *openCode) listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /permission", func(w http.ResponseWriter, _ *http.Request) {
		o.server.Lock()
		defer o.server.Unlock()
		_ = json.NewEncoder(w).Encode(append([]object{}, o.server.open...))
	})
	routes.HandleFunc("GET /question", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) })
	routes.HandleFunc("POST /permission/{id}/reply", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Reply, Message string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if err := o.reply(r.PathValue("id"), body.Reply); err != nil {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	go func() { panic(http.Serve(l, routes)) }()
	return nil
}

// reply takes the first answer to a request.
func (o *openCode) reply(id, reply string) error {
	o.server.Lock()
	defer o.server.Unlock()
	i := slices.IndexFunc(o.server.open, func(r object) bool { return r[1] == id })
	if i < 0 {
		return errors.New("no such request")
	}
	o.server.open = slices.Delete(o.server.open, i, i+1)
	if reply == "reject" {
		if err := o.changeCall("error", object{"error", "The user rejected permission to use this specific tool call."}, object{"start", now() - 5000, "end", now()}); err != nil {
			return err
		}
		return o.complete(object{"finish", "tool-calls"}, "")
	}
	return o.changeCall("running", object{"metadata", object{"output", ""}}, object{"start", now()})
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

// What `opencode run` of 1.18 takes.
const (
	openCodeValued = " --format --title -m --model -s --session --agent --variant -f --file --dir --log-level "
	openCodePlain  = " --auto --fork -c --continue --print-logs --thinking "
)

func (o *openCode) accept(args []string, stdin string) (string, error) {
	set, unknown := parseOptions(args, openCodeValued, openCodePlain)
	o.json, o.title = set.first("--format") == "json", set.first("--title")
	if provider, model, ok := strings.Cut(set.first("-m", "--model"), "/"); ok {
		o.provider, o.model = provider, model
	}
	if err := o.settle(set.first("--dir")); err != nil {
		return "", err
	}
	prompt := message(set.words[min(1, len(set.words)):], stdin)
	if unknown != "" || len(set.words) == 0 || set.words[0] != "run" {
		return "", refusal{1, "opencode run [message..]\n\nrun opencode with a message"}
	}
	return prompt, o.choose(set.first("-s", "--session"), set.first("--fork") != "")
}

// settle finds out where the session works: the agent believes its environment more than the kernel.
func (o *openCode) settle(dir string) error {
	if dir = cmp.Or(dir, os.Getenv("PWD")); dir == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(dir)
	o.cwd = real
	return err
}

// message puts the words of the command line together with what stands on stdin.
func message(words []string, stdin string) string {
	var parts []string
	for _, w := range words {
		if strings.Contains(w, " ") {
			w = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
		parts = append(parts, w)
	}
	if len(parts) == 0 || stdin == "" {
		return strings.Join(parts, " ") + stdin
	}
	return strings.Join(parts, " ") + "\n" + stdin
}

// choose finds the session to go on with. In another directory than the session's own the turn is done all the same,
// but the process never ends.
func (o *openCode) choose(id string, fork bool) error {
	if id == "" {
		return nil
	}
	if err := o.open(); err != nil {
		return err
	}
	var dir, title string
	err := o.db.QueryRow("select directory, title from session where id = ?", id).Scan(&dir, &title)
	if errors.Is(err, sql.ErrNoRows) {
		return refusal{1, "Error: Session not found"}
	}
	o.stuck = dir != o.cwd
	if o.cwd = dir; fork {
		o.fork, o.title = id, title+" (fork #1)"
	} else {
		o.id = id
	}
	return err
}

// appear opens the database and the log. The process is known by them; its session is only once it is stored.
func (o *openCode) appear() error { return o.open() }

func (o *openCode) record(prompt string) error {
	if o.id == "" {
		if _, err := o.begin(); err != nil {
			return err
		}
		if err := o.copy(o.fork); err != nil {
			return err
		}
	}
	return o.prompt(prompt)
}

// copy takes over the messages of the session that this one is a fork of.
func (o *openCode) copy(from string) error {
	_, err := o.db.Exec(`insert into message select replace(id, 'msg_', 'msg_f'), ?, time_created, time_updated, data
		from message where session_id = ?`, o.id, from)
	_, partsErr := o.db.Exec(`insert into part select replace(id, 'prt_', 'prt_f'), replace(message_id, 'msg_', 'msg_f'), ?,
		time_created, time_updated, data from part where session_id = ?`, o.id, from)
	return errors.Join(err, partsErr)
}

func (o *openCode) tool(command string) error {
	return errors.Join(o.event("step_start", object{}), o.call(command, object{"output", ""}))
}

func (o *openCode) result(string) error {
	_, err := o.db.Exec(`update part set data = json_set(data, '$.state.status', 'completed'), time_updated = ?
		where message_id = ? and json_extract(data, '$.type') = 'tool'`, now(), o.answer)
	return err
}

// event prints a line of JSON, where that was asked for.
func (o *openCode) event(kind string, more object) error {
	if !o.json {
		return nil
	}
	_, err := os.Stdout.Write(lines(append(object{"type", kind, "timestamp", now(), "sessionID", o.id}, more...)))
	return err
}

// retry shows in the log only.
func (o *openCode) retry() error {
	return o.say(`message="stream error" session.id=%s error.error="Overloaded"`, o.id)
}

func (o *openCode) finish(text string, failed bool) (code int, err error) {
	if failed {
		failure := object{"name", "APIError", "data", object{"message", text, "statusCode", 400}}
		err = errors.Join(o.complete(object{"error", failure}, ""), o.event("error", object{"error", failure}))
		if !o.json {
			fmt.Fprintln(os.Stderr, "Error: "+text)
		}
		return 1, err
	}
	err = errors.Join(o.complete(object{"finish", "stop"}, text), o.event("text", object{"part", object{"type", "text", "text", text}}))
	if !o.json {
		fmt.Println(text)
	}
	if o.stuck {
		err = errors.Join(err, wait(&directive.Pause{}))
	}
	return 0, err
}

func (o *openCode) markers() []string {
	return []string{"AGENT=1", "OPENCODE=1", fmt.Sprintf("OPENCODE_PID=%d", os.Getpid())}
}

// handledSignals returns none: any signal ends a headless process at once, and its tools live on.
func (o *openCode) handledSignals() []os.Signal { return nil }

func (o *openCode) onSignal(syscall.Signal, func() bool) {}

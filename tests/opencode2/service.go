package opencode2

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver

	"agentctl/tests/directive"
)

// The outcomes of a turn.
const (
	outcomeSucceeded   = "succeeded"
	outcomeFailed      = "failed"
	outcomeInterrupted = "interrupted"
)

// service runs the turns of all sessions.
type service struct {
	db       *sql.DB
	password string
	mu       sync.Mutex
	turns    map[string]*turn
}

// turn is a turn in progress.
type turn struct {
	cancel context.CancelFunc
	done   chan struct{}
	begun  chan struct{} // its first answer is stored
	reply
}

// errStopped: the service ends, which ends no turn in the database.
var errStopped = errors.New("the service ends")

// serve runs the service until a signal. The file with descriptor 3 is closed once it is registered.
func serve() error {
	if err := os.MkdirAll(dataDir(), 0o700); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dataDir(), "opencode.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(Schema + `INSERT OR IGNORE INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('p', '/', 1, 1, '[]');`); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &service{db: db, password: newID("pw"), turns: map[string]*turn{}}
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: time.Minute}
	r := registration{ID: newID("srv"), Version: Version, URL: "http://" + listener.Addr().String(), PID: os.Getpid(), Password: s.password}
	if err := register(r); err != nil {
		return err
	}
	if err := s.takeUp(); err != nil {
		return err
	}
	_ = os.NewFile(3, "registered").Close() // there may be nobody who waits
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() { _ = server.Serve(listener) }()
	<-signals
	s.mu.Lock()
	for _, t := range s.turns {
		t.Error = errStopped.Error()
		t.cancel()
	}
	s.mu.Unlock()
	for _, t := range s.turns {
		<-t.done
	}
	return errors.Join(os.Remove(registrationPath()), db.Close())
}

// takeUp goes on with the turns of a service that was killed.
func (s *service) takeUp() error {
	rows, err := s.db.Query(`SELECT id, directory FROM session_v2 WHERE time_suspended IS NOT NULL AND parent_id IS NULL`)
	if err != nil {
		return err
	}
	dirs := map[string]string{} // by ID
	for rows.Next() {
		var id, dir string
		if err := rows.Scan(&id, &dir); err != nil {
			return err
		}
		dirs[id] = dir
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, dir := range dirs {
		s.exec(`UPDATE session_v2 SET resume_attempts = resume_attempts + 1 WHERE id = ?`, id)
		s.add(id, "synthetic", map[string]any{"text": "The server restarted while you were working."})
		s.start(id, "[[hang]]", dir)
	}
	return nil
}

// register writes service.json as a whole.
func register(r registration) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	unfinished := registrationPath() + ".tmp"
	return errors.Join(os.MkdirAll(stateDir(), 0o700), os.WriteFile(unfinished, raw, 0o600), os.Rename(unfinished, registrationPath()))
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /begin", func(w http.ResponseWriter, q *http.Request) {
		var p prompt
		if err := json.NewDecoder(q.Body).Decode(&p); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		t, err := s.begin(p)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		<-t.begun
		_ = json.NewEncoder(w).Encode(reply{Session: t.Session})
	})
	mux.HandleFunc("POST /wait", func(w http.ResponseWriter, q *http.Request) {
		var r reply
		if err := json.NewDecoder(q.Body).Decode(&r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		t := s.turns[r.Session]
		s.mu.Unlock()
		<-t.done
		_ = json.NewEncoder(w).Encode(t.reply)
	})
	mux.HandleFunc("POST /api/session/{id}/interrupt", func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		t := s.turns[q.PathValue("id")]
		s.mu.Unlock()
		if t != nil {
			t.cancel()
			<-t.done
		}
		fmt.Fprintf(w, `{"data":{"interrupted":%v}}`, t != nil)
	})
	mux.HandleFunc("DELETE /api/session/{id}", func(_ http.ResponseWriter, q *http.Request) {
		for _, table := range []string{"session_message WHERE session_id", "session_inbox WHERE session_id", "session_v2 WHERE id"} {
			s.exec(`DELETE FROM `+table+` = ?`, q.PathValue("id"))
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if _, password, _ := q.BasicAuth(); password != s.password {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, q)
	})
}

// exec changes the database. The made-up program has no way on without it.
func (s *service) exec(statement string, args ...any) {
	if _, err := s.db.Exec(statement, args...); err != nil {
		panic(err)
	}
}

func now() int64 { return time.Now().UnixMilli() }

// begin starts a turn, in a new session if there is none with the ID.
func (s *service) begin(p prompt) (*turn, error) {
	if p.Session == "" {
		p.Session = newID("ses")
	}
	s.exec(`INSERT OR IGNORE INTO session_v2 (id, project_id, slug, directory, title, version, agent, model, time_created, time_updated)
		VALUES (?, 'p', 'slug', ?, nullif(?, ''), ?, 'build', '{"id":"claude-sonnet-4-5","providerID":"anthropic"}', ?, ?)`, p.Session, p.Directory, p.Title, Version, now(), now())
	var dir string
	if err := s.db.QueryRow(`SELECT directory FROM session_v2 WHERE id = ?`, p.Session).Scan(&dir); err != nil {
		return nil, err
	}
	s.exec(`UPDATE session_v2 SET time_suspended = coalesce(time_suspended, ?), time_updated = ? WHERE id = ?`, now(), now(), p.Session)
	s.add(p.Session, "user", map[string]any{"text": p.Text, "time": map[string]any{"created": now()}})
	return s.start(p.Session, p.Text, dir), nil
}

// start starts the work of a turn.
func (s *service) start(session, text, dir string) *turn {
	ctx, cancel := context.WithCancel(context.Background())
	t := &turn{cancel: cancel, done: make(chan struct{}), begun: make(chan struct{}), reply: reply{Session: session}}
	s.mu.Lock()
	s.turns[session] = t
	s.mu.Unlock()
	go func() {
		defer close(t.done)
		defer cancel()
		s.work(ctx, t, text, dir)
	}()
	return t
}

// add adds a message and returns its ID.
func (s *service) add(session, kind string, data map[string]any) string {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	id := newID("msg")
	s.exec(`INSERT INTO session_message SELECT ?, ?, ?, coalesce(max(seq) + 2, 4), ?, ?, ? FROM session_message WHERE session_id = ?`,
		id, session, kind, now(), now(), string(raw), session)
	s.exec(`UPDATE session_v2 SET time_updated = ? WHERE id = ?`, now(), session)
	return id
}

// work runs the steps of a turn: each is an answer of the model.
func (s *service) work(ctx context.Context, t *turn, text, dir string) {
	steps, ok := directive.Parse(text)
	if !ok {
		steps = []directive.Step{{Verb: "text", Arg: "done"}}
	}
	if last := steps[len(steps)-1].Verb; last != "text" && last != "error" {
		steps = append(steps, directive.Step{Verb: "text", Arg: "done"})
	}
	for i, step := range steps {
		failure := s.step(ctx, t, step, dir, i == 0)
		if t.Error == errStopped.Error() {
			return // the claim stays
		}
		if failure != "" || ctx.Err() != nil || i == len(steps)-1 {
			s.end(ctx, t, failure)
			return
		}
	}
}

// step stores one answer, and returns why it has failed.
func (s *service) step(ctx context.Context, t *turn, step directive.Step, dir string, first bool) (failure string) {
	at := map[string]any{"created": now()}
	answer := map[string]any{"agent": "build", "model": map[string]any{"id": "claude-sonnet-4-5", "providerID": "anthropic"}, "content": []any{}, "time": at}
	id := s.add(t.Session, "assistant", answer)
	save := func() {
		raw, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		s.exec(`UPDATE session_message SET data = ?, time_updated = ? WHERE id = ?`, string(raw), now(), id)
		s.exec(`UPDATE session_v2 SET time_updated = ? WHERE id = ?`, now(), t.Session)
	}
	tool := func(name string, input map[string]any) (state map[string]any) {
		state = map[string]any{"status": "running", "input": input, "metadata": map[string]any{}}
		answer["content"] = []any{map[string]any{"type": "tool", "id": "call_" + id, "name": name, "state": state, "time": map[string]any{"created": now(), "ran": now()}}}
		save()
		return state
	}
	begun := func() {
		if first {
			close(t.begun)
		}
	}
	var state map[string]any
	switch step.Verb {
	case "error":
		failure = "the model answers with status " + step.Arg
		answer["error"] = map[string]any{"type": "provider.unavailable", "message": failure, "status": 400}
		begun()
	case "text":
		answer["content"] = []any{map[string]any{"type": "text", "text": step.Arg}}
		begun()
	case "shell":
		state = tool("shell", map[string]any{"command": step.Arg})
		begun()
		out := runShell(ctx, dir, step.Arg, t.Session)
		state["status"], state["content"] = "completed", []any{map[string]any{"type": "text", "text": out}}
	case "question":
		state = tool("question", map[string]any{"questions": []any{map[string]any{"question": step.Arg}}})
		begun()
		<-ctx.Done()
	default: // hang
		begun()
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		answer["error"] = map[string]any{"type": "aborted", "message": "Step interrupted"}
		if state != nil {
			state["status"], state["error"] = "error", map[string]any{"type": "aborted", "message": "Tool execution interrupted"}
		}
	}
	at["completed"], answer["finish"] = now(), map[bool]string{true: "tool-calls", false: "stop"}[state != nil]
	answer["tokens"] = map[string]any{"input": 1000, "output": 50, "reasoning": 0, "cache": map[string]any{"read": 0, "write": 0}}
	save()
	s.exec(`UPDATE session_v2 SET tokens_input = tokens_input + 1000, tokens_output = tokens_output + 50 WHERE id = ?`, t.Session)
	return failure
}

// runShell runs a command in a kernel session of its own, and returns what it prints.
func runShell(ctx context.Context, dir, command, session string) string {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "OPENCODE=1", "AGENT=1", "OPENCODE_SESSION_ID="+session)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, _ := cmd.CombinedOutput() // an exit code is no failure of the call
	return strings.TrimSpace(string(out))
}

// end ends a turn, in one transaction.
func (s *service) end(ctx context.Context, t *turn, failure string) {
	data := map[string]any{"outcome": outcomeSucceeded, "time": map[string]any{"created": now()}}
	switch {
	case ctx.Err() != nil:
		data["outcome"] = outcomeInterrupted
	case failure != "":
		data["outcome"], data["error"] = outcomeFailed, map[string]any{"type": "provider.unavailable", "message": failure}
	}
	t.Outcome, t.Error = data["outcome"].(string), failure
	s.add(t.Session, "idle", data)
	s.exec(`UPDATE session_v2 SET time_suspended = NULL, resume_attempts = 0, time_idle = ?, idle_outcome = ? WHERE id = ?`, now(), t.Outcome, t.Session)
}

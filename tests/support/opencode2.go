package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver

	"agentctl/tests/model"
	"agentctl/tests/realagents/install"
	"agentctl/tests/support/facts"
)

// OpenCode 2 was read in its source, and no registry has the program. This file tries a program that somebody has: what of the source holds, which
// docs/agents/opencode.md says and discover/opencode relies on, and what agentctl does with it.

// trial is a program with a home of its own and a model on loopback.
type trial struct {
	program, agentctl, dir, work string
	model                        *model.Server
	out                          io.Writer
	seen                         []facts.Seen
	refuted                      int
}

// patience is how long something may take to show.
const patience = 30 * time.Second

// tryOpenCode2 prints which statements of the source the program confirms, and returns its release and what agentctl shows of it.
func tryOpenCode2(program, agentctl string, out io.Writer) (r install.Release, seen []facts.Seen, err error) {
	dir, err := os.MkdirTemp("", "opencode2-")
	if err != nil {
		return r, nil, err
	}
	t := &trial{agentctl: agentctl, dir: dir, work: filepath.Join(dir, "work"), out: out}
	defer os.RemoveAll(dir)
	defer t.killService()
	if t.program, err = filepath.Abs(program); err != nil {
		return r, nil, err
	}
	if t.model, err = model.Start("127.0.0.1:0"); err != nil {
		return r, nil, err
	}
	defer t.model.Close()
	if err := t.configure(); err != nil {
		return r, nil, err
	}
	said, err := t.run(t.program, "", "--version")
	version, ok := strings.CutPrefix(strings.TrimSpace(said), "opencode v")
	if r = (install.Release{Agent: install.OpenCode, Version: version}); err != nil || !ok {
		return r, nil, fmt.Errorf("%s is not OpenCode 2: --version prints %q, %w", program, said, err)
	}
	fmt.Fprintf(out, "%s says that it is %q\n", program, strings.TrimSpace(said))
	err = t.try()
	for _, f := range facts.All() {
		if !slices.ContainsFunc(t.seen, func(s facts.Seen) bool { return s.Fact == f.Name }) {
			t.seen = append(t.seen, facts.Seen{Fact: f.Name, Result: "no", Why: "it was not tried"})
		}
	}
	fmt.Fprintf(out, "%d statements refuted\n", t.refuted)
	return r, t.seen, err
}

// configure writes the configuration, as that of OpenCode 1: OpenCode 2 takes it over.
func (t *trial) configure() error {
	config, err := json.Marshal(map[string]any{
		"autoupdate": false, "share": "disabled", "lsp": false, "formatter": false, "model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-haiku-4-5",
		"enabled_providers": []string{"anthropic"},
		"provider":          map[string]any{"anthropic": map[string]any{"options": map[string]any{"baseURL": t.model.URL + "/v1", "apiKey": "none"}}},
	})
	folder := filepath.Join(t.dir, ".config", "opencode")
	return errors.Join(err, os.MkdirAll(folder, 0o700), os.MkdirAll(filepath.Join(t.dir, "bin"), 0o700), os.MkdirAll(t.work, 0o700),
		os.Symlink(t.program, filepath.Join(t.dir, "bin", "opencode")), os.WriteFile(filepath.Join(folder, "opencode.json"), config, 0o600))
}

// environ is the environment of the program: nothing of ours but what the system needs.
func (t *trial) environ() []string {
	env := []string{"HOME=" + t.dir, "PWD=" + t.work, "PATH=" + filepath.Join(t.dir, "bin") + ":" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8"}
	for _, name := range []string{"AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS", "EMBEDDED_WEB_UI"} {
		env = append(env, "OPENCODE_DISABLE_"+name+"=1")
	}
	return env
}

// command returns a command line of the program or of agentctl, with a text on its stdin.
func (t *trial) command(program, stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = t.work, t.environ(), strings.NewReader(stdin)
	return cmd
}

func (t *trial) run(program, stdin string, args ...string) (stdout string, err error) {
	cmd := t.command(program, stdin, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.String(), err
}

// says prints whether a statement of the source holds.
func (t *trial) says(statement string, holds bool, found any) {
	if holds {
		fmt.Fprintf(t.out, "confirmed: %s\n", statement)
		return
	}
	t.refuted++
	fmt.Fprintf(t.out, "REFUTED: %s; found %v\n", statement, found)
}

// is stores what agentctl shows.
func (t *trial) is(fact string, holds bool, why any) {
	s := facts.Seen{Fact: fact, Result: facts.Yes}
	if !holds {
		s.Result, s.Why = "no", fmt.Sprint(why)
	}
	t.seen = append(t.seen, s)
}

// eventually reports whether a condition holds in time.
func eventually(holds func() bool) bool {
	for deadline := time.Now().Add(patience); ; {
		if holds() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		<-time.After(50 * time.Millisecond)
	}
}

// row queries the database; "" where there is no row, or no database yet.
func (t *trial) row(query string, args ...any) string {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.dir, ".local/share/opencode/opencode.db")+"?mode=ro")
	if err != nil {
		return ""
	}
	defer db.Close()
	var text sql.NullString
	_ = db.QueryRow(query, args...).Scan(&text) // "" is seen
	return text.String
}

// newest returns a column of the session whose prompt begins with a word.
func (t *trial) newest(column, word string) string {
	return t.row(`SELECT `+column+` FROM session_v2 WHERE id = (SELECT session_id FROM session_message WHERE type = 'user' AND data LIKE ? ORDER BY time_created DESC LIMIT 1)`,
		"%"+word+" [[%")
}

// registration is service.json without the password.
type registration struct {
	Version, URL string
	PID          int
}

// registration returns what service.json has; zero if there is none.
func (t *trial) registration() (r registration) {
	raw, err := os.ReadFile(filepath.Join(t.dir, ".local/state/opencode/service.json"))
	if err == nil {
		_ = json.Unmarshal(raw, &r) // what it lacks is seen
	}
	return r
}

func (t *trial) killService() {
	if pid := t.registration().PID; pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		eventually(func() bool { raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); return len(raw) == 0 })
	}
}

// session is what agentctl shows of a session.
type session struct {
	Status, Outcome string
	PID             int
	Evidence        struct{ Strength string }
	Tokens          struct{ Total int64 }
}

// status returns the session that agentctl shows of an ID.
func (t *trial) status(id string) (s session) {
	out, _ := t.run(t.agentctl, "", "status", "--json", id)
	_ = json.Unmarshal([]byte(out), &s) // what it lacks is seen
	return s
}

// gate is a pipe that a tool waits at.
func (t *trial) gate(name string) (command string, open func() error, err error) {
	path := filepath.Join(t.dir, name)
	command = "cat " + path
	open = func() error {
		var f *os.File
		var err error
		reads := func() bool {
			f, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails while nobody reads
			return err == nil
		}
		if !eventually(reads) {
			return err
		}
		_, err = f.WriteString("go\n")
		return errors.Join(err, f.Close())
	}
	return command, open, syscall.Mkfifo(path, 0o600)
}

// try tries everything, in the order in which it builds up.
func (t *trial) try() error {
	tool, open, err := t.gate("gate")
	if err != nil {
		return err
	}
	said := filepath.Join(t.dir, "said")
	prompt := "tried [[shell " + t.agentctl + " current -q > " + said + "; echo session=$OPENCODE_SESSION_ID parent=$PPID; " + tool + ";; text all is well]]"
	first := t.command(t.program, prompt, "run", "--format", "json", "--auto")
	var events bytes.Buffer
	first.Stdout = &events
	if err := first.Start(); err != nil {
		return err
	}
	eventually(func() bool { return t.newest("id", "tried") != "" })
	id := t.newest("id", "tried")
	t.says("a run stores its session in session_v2, and the prompt of its stdin in session_message", strings.HasPrefix(id, "ses"), id)
	if id == "" {
		return errors.Join(errors.New("no session was stored, so that nothing else can be tried"), first.Process.Kill(), first.Wait())
	}
	toolRuns := func() bool { return strings.Contains(t.processes(), tool) }
	began := eventually(func() bool { raw, _ := os.ReadFile(said); return len(raw) > 0 && toolRuns() })
	t.says("a tool runs in a process", began, t.processes())
	t.schema()
	t.service(first.Process.Pid)
	t.says("time_suspended is set while a turn runs", t.newest("time_suspended", "tried") != "", "null")
	t.says("a running call has no metadata", t.call(id, "$.content[#-1].state.metadata") == "{}", t.call(id, "$.content[#-1].state.metadata"))
	name := t.call(id, "$.content[#-1].name")
	t.says("the tool for commands is called shell", name == "shell", name)

	s := t.status(id)
	t.is("listed", s.Status == "running" && s.PID == first.Process.Pid, s) // of the client, which the user meets
	t.seen = append(t.seen, facts.Seen{Fact: "evidence", Result: s.Evidence.Strength})
	t.says("a tool has OPENCODE_SESSION_ID and is a child of the service", s.Evidence.Strength == facts.Exact, s.Evidence.Strength)
	current, _ := os.ReadFile(said)
	t.is("current", strings.TrimSpace(string(current)) == id, string(current))
	kinds, _ := t.run(t.agentctl, "", "doctor", "--json")
	var found struct {
		Agents []struct{ UnknownKinds []string }
	}
	unread := json.Unmarshal([]byte(kinds), &found)
	unknown := slices.ContainsFunc(found.Agents, func(a struct{ UnknownKinds []string }) bool { return len(a.UnknownKinds) > 0 })
	t.is("records", unread == nil && !unknown, found)

	if err := errors.Join(open(), first.Wait()); err != nil {
		return err
	}
	line, _, _ := strings.Cut(events.String(), "\n")
	t.says("the first line of run --format json names the session", strings.Contains(line, `"sessionID":"`+id+`"`), line)
	t.says("a turn that has ended has no time_suspended, and idle_outcome succeeded", t.newest("time_suspended IS NULL AND idle_outcome = 'succeeded'", "tried") == "1", t.newest("idle_outcome", "tried"))
	stored := t.row(`SELECT json_extract(data, '$.text') FROM session_message WHERE session_id = ? AND type = 'user'`, id)
	t.says("the prompt of stdin is stored as it is", stored == prompt, stored)
	peek, _ := t.run(t.agentctl, "", "peek", id, "-n", "0")
	t.is("messages", strings.Contains(peek, "all is well") && strings.Contains(peek, tool), peek)
	s = t.status(id)
	t.is("tokens", s.Tokens.Total > 0 && s.Tokens.Total%1050 == 0, s.Tokens) // what the model counts for each answer
	completed := s.Outcome == "completed"

	_, _ = t.run(t.program, "refused [[error 400]]", "run", "--format", "json")
	t.says("a turn that the model refuses has idle_outcome failed", t.newest("idle_outcome", "refused") == "failed", t.newest("idle_outcome", "refused"))
	t.is("error", t.status(t.newest("id", "refused")).Outcome == "error", "")
	return t.tryActions(completed)
}

// tryActions tries what agentctl does, and what is left when the service is killed.
func (t *trial) tryActions(completed bool) error {
	tool, open, err := t.gate("second")
	if err != nil {
		return err
	}
	out, failed := t.run(t.agentctl, "", "launch", "opencode", "--permissions", "full", "-p", "launched [[shell "+tool+"]]")
	id := strings.TrimSpace(out)
	t.is("launch", failed == nil && id == t.newest("id", "launched") && t.status(id).Status == "running", failed)
	_, failed = t.run(t.agentctl, "", "stop", id)
	t.says("api POST /api/session/ID/interrupt ends a turn: idle_outcome interrupted", t.newest("idle_outcome", "launched") == "interrupted", t.newest("idle_outcome", "launched"))
	t.is("stop", failed == nil && t.status(id).Outcome == "interrupted" && !strings.Contains(t.processes(), tool), failed)
	out, failed = t.run(t.agentctl, "", "resume", id, "--permissions", "full", "goes on [[shell "+tool+"]]")
	t.is("resume", failed == nil && strings.TrimSpace(out) == id && t.newest("id", "goes on") == id && t.status(id).Status == "running", failed)
	if eventually(func() bool { return strings.Contains(t.processes(), tool) }) {
		if err := open(); err != nil {
			return err
		}
	}
	const chosen = "ses_0000000000000chosenbyagentctl0"
	_, failed = t.run(t.program, "chosen", "run", "--format", "json", "--session", chosen)
	t.says("run --session with an unknown ID makes the session", t.row(`SELECT id FROM session_v2 WHERE id = ?`, chosen) == chosen, failed)

	out, failed = t.run(t.agentctl, "", "launch", "opencode", "-p", "killed [[hang]]")
	t.killService()
	cut := t.status(strings.TrimSpace(out)).Outcome
	t.is("outcome", completed && failed == nil && cut == "interrupted", cut)
	t.says("a turn whose service was killed keeps time_suspended", t.newest("time_suspended", "killed") != "", "null")
	_, failed = t.run(t.program, "another", "run", "--format", "json")
	taken := eventually(func() bool { return t.newest("resume_attempts > 0 OR time_suspended IS NULL", "killed") == "1" })
	t.says("the next service takes the turn up", taken, failed)
	return nil
}

// processes are the command lines of all processes.
func (t *trial) processes() string {
	var lines []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		raw, _ := os.ReadFile(file) // it may have ended
		lines = append(lines, strings.ReplaceAll(string(raw), "\x00", " "))
	}
	return strings.Join(lines, "\n")
}

// call returns a member of the newest answer of a session.
func (t *trial) call(id, path string) string {
	return t.row(`SELECT json_extract(data, ?) FROM session_message WHERE session_id = ? AND type = 'assistant' ORDER BY seq DESC LIMIT 1`, path, id)
}

// schema compares the tables.
func (t *trial) schema() {
	for table, columns := range map[string]string{
		"session_v2": "id parent_id fork_session_id directory title version agent model cost tokens_input tokens_output tokens_reasoning tokens_cache_read " +
			"tokens_cache_write workspace_id time_created time_updated time_idle idle_outcome time_archived time_suspended resume_attempts",
		"session_message": "id session_id type seq time_created time_updated data", "session_inbox": "id session_id time_created",
	} {
		got := t.row(`SELECT group_concat(name, ' ') FROM pragma_table_info(?)`, table)
		missing := slices.DeleteFunc(strings.Fields(columns), func(c string) bool { return slices.Contains(strings.Fields(got), c) })
		t.says(table+" has the columns that are read", len(missing) == 0, "no "+strings.Join(missing, ", "))
	}
	fmt.Fprintf(t.out, "types of messages: %s\n", t.row(`SELECT group_concat(DISTINCT type) FROM session_message`))
}

// service compares the processes: client is the run.
func (t *trial) service(client int) {
	r := t.registration()
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID))
	t.says("service.json has version, url and pid", r.PID > 0 && r.Version != "" && r.URL != "", r)
	t.says("the pid is that of `serve --service`", strings.Contains(string(args), "serve\x00--service"), strings.ReplaceAll(string(args), "\x00", " "))
	holds := func(pid int) bool {
		files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
		return slices.ContainsFunc(files, func(f string) bool { to, _ := os.Readlink(f); return filepath.Base(to) == "opencode.db" })
	}
	t.says("the service has the database open", holds(r.PID), "not open")
	t.says("a client does not have the database open", !holds(client), "open")
}

package e2e_test

import (
	"bufio"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/internal/cli"
	"agentctl/proc"
	"agentctl/tests/sampleagent"
)

// fake is a scripted agent. handle carries out one order and answers with facts, as key=value.
type fake interface {
	handle(verb, rest string) (facts string, err error)
}

// errUnknownOrder: the script asks for what the fake cannot do.
var errUnknownOrder = errors.New("unknown order")

// serve prints that it is ready, and carries out orders until stdin ends. Then it ends as a process does whose terminal is gone:
// leaving everything as it is.
func serve(f fake) {
	fmt.Fprintln(os.Stdout, "ok")
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		verb, rest, _ := strings.Cut(orders.Text(), " ")
		facts, err := common(f, verb, rest)
		if err != nil {
			fmt.Fprintf(os.Stdout, "%s: %v\n", verb, err)
			continue
		}
		fmt.Fprintln(os.Stdout, "ok "+facts)
	}
	os.Exit(1)
}

// common are the orders that any process understands.
func common(f fake, verb, rest string) (facts string, err error) {
	switch verb {
	case "nothing":
		return "", nil
	case "who":
		return fmt.Sprintf("pid=%d", os.Getpid()), nil
	case "ignore": // SIGTERM
		signal.Ignore(syscall.SIGTERM)
		return "", nil
	case "run": // FILE COMMAND: as a tool does, in a session of the kernel's own; what it prints is in the file
		file, command, _ := strings.Cut(rest, " ")
		return runTool(file, command)
	}
	return f.handle(verb, rest)
}

// runTool answers with the exit code.
func runTool(file, command string) (string, error) {
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return "", err
	}
	return fmt.Sprintf("code=%d", cmd.ProcessState.ExitCode()), nil
}

// object is a JSON object that keeps its keys in order, as the agents do: key, value, key, value, ….
type object []any

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		key, err := json.Marshal(o[i])
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o[i+1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

// decoy is a program that is no agent.
type decoy struct{}

func (decoy) handle(string, string) (string, error) { return "", errUnknownOrder }

// home is the agent's data root: by its own variable, or below the home directory.
func home(key string, elem ...string) string {
	if dir := os.Getenv(key); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{os.Getenv("HOME")}, elem...)...)
}

// workDir is where the process runs, as the kernel names it.
func workDir() string {
	dir, err := filepath.EvalSymlinks(".")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		panic(err)
	}
	return dir
}

// appendLines writes records as the agents do: one write, at the end of the file, each record a line.
func appendLines(path string, records ...object) error { return appendTo(path, lines(records...)) }

func appendTo(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(text)
	return err
}

func lines(records ...object) []byte {
	var out []byte
	for _, r := range records {
		b, err := json.Marshal(r)
		if err != nil {
			panic(err) // our own literals
		}
		out = append(append(out, b...), '\n')
	}
	return out
}

func stamp() string { return time.Now().UTC().Format(stampLayout) }

const stampLayout = "2006-01-02T15:04:05.000Z"

// uuid makes a random identifier; version 7 begins with the time, version 4 does not.
func uuid(version byte) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	if version == 7 {
		ms := time.Now().UnixMilli()
		for i := range 6 {
			b[i] = byte(ms >> (40 - 8*i))
		}
	}
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b[:])
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}

// unquoted lets a script put any byte into a text: it is written as a Go string.
func unquoted(s string) string {
	var out string
	if _, err := fmt.Sscanf(s, "%q", &out); err == nil {
		return out
	}
	return s
}

// What the agents' commands do to stored sessions: `codex delete|archive|unarchive` of 0.169, `opencode session delete` of 1.18. With
// OLD_RELEASE there are none, with IDLE they say that they are done and do nothing, and with SLOW, the name of a FIFO, they make a file
// with .reached after that name and wait until something opens the FIFO.

// manageCodex carries out a command; it returns if the command line has none.
func manageCodex() {
	if len(os.Args) < 3 || !slices.Contains([]string{"delete", "archive", "unarchive"}, os.Args[1]) {
		return
	}
	verb, id, dir := os.Args[1], os.Args[len(os.Args)-1], home("CODEX_HOME", ".codex")
	if os.Getenv("OLD_RELEASE") != "" {
		refuse(2, "error: unexpected argument '%s' found", id)
	}
	if id == "--help" {
		fmt.Printf("Usage: codex %s [OPTIONS] <SESSION>\n", verb)
		os.Exit(0)
	}
	if fifo := os.Getenv("SLOW"); fifo != "" {
		_ = os.WriteFile(fifo+".reached", nil, 0o600)
		_, _ = os.ReadFile(fifo)
	}
	active, _ := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/rollout-*-"+id+".jsonl"))
	archived, _ := filepath.Glob(filepath.Join(dir, "archived_sessions/rollout-*-"+id+".jsonl"))
	var err error
	switch {
	case os.Getenv("IDLE") != "":
	case verb == "delete" && os.Args[2] != "--force":
		refuse(1, "Error: cannot confirm session deletion without an interactive terminal; rerun with --force and a session UUID")
	case verb == "delete" && len(active)+len(archived) > 0:
		err = os.Remove(append(active, archived...)[0])
	case verb == "archive" && len(active) > 0:
		if err = os.MkdirAll(filepath.Join(dir, "archived_sessions"), 0o700); err == nil {
			err = os.Rename(active[0], filepath.Join(dir, "archived_sessions", filepath.Base(active[0])))
		}
	case verb == "unarchive" && len(archived) > 0:
		name := filepath.Base(archived[0])
		day := filepath.Join(dir, "sessions", strings.ReplaceAll(name[len("rollout-"):len("rollout-2026-11-20")], "-", "/"))
		if err = os.MkdirAll(day, 0o700); err == nil {
			err = os.Rename(archived[0], filepath.Join(day, name))
		}
	default:
		refuse(1, "Error: failed to %s session", verb)
	}
	if err != nil {
		refuse(1, "Error: %v", err)
	}
	fmt.Printf("Done with session %s.\n", id)
	os.Exit(0)
}

// manageOpenCode is manageCodex for OpenCode.
func manageOpenCode() {
	if len(os.Args) < 4 || os.Args[1] != "session" || os.Args[2] != "delete" {
		return
	}
	id := os.Args[3]
	switch {
	case id == "--help" && os.Getenv("OLD_RELEASE") == "":
		fmt.Println("opencode session delete <sessionID>")
		os.Exit(0)
	case os.Getenv("OLD_RELEASE") != "":
		fmt.Println("opencode session\n\nmanage sessions")
		os.Exit(0)
	case os.Getenv("IDLE") != "":
		os.Exit(0)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home("XDG_DATA_HOME", ".local/share"), "opencode/opencode.db"))
	if err != nil {
		refuse(1, "Error: %v", err)
	}
	defer db.Close()
	for _, statement := range []string{"delete from part where session_id = ?", "delete from message where session_id = ?", "delete from session where id = ?"} {
		if _, err = db.Exec(statement, id); err != nil {
			refuse(1, "Error: %v", err)
		}
	}
	os.Exit(0)
}

// refuse ends the program with an error.
func refuse(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(code)
}

// agentctlWithSample is agentctl with one more agent.
func agentctlWithSample() {
	env := cli.NewEnv("v0.0.0-test")
	env.Adapters = append(env.Adapters, sampleagent.Adapter{})
	os.Exit(cli.Main(os.Args, env))
}

// sample is the agent of package sampleagent: JSON lines for each session, and a pid file while a process runs it.
type sample struct{ home, id string }

func (s *sample) handle(verb, rest string) (string, error) {
	switch verb {
	case "begin": // [ID]
		if s.id = rest; s.id == "" {
			s.id = uuid(4)
		}
		return "id=" + s.id, s.appear()
	case "prompt": // TEXT
		return "", s.record(unquoted(rest))
	case "answer": // TEXT
		return "", s.write("answer", unquoted(rest))
	}
	return "", errUnknownOrder
}

func (s *sample) accept(args []string, stdin string) (string, error) {
	o, unknown := parseOptions(args, " --session ", "")
	if s.id = o.first("--session"); unknown != "" || s.id == "" {
		return "", refusal{2, fmt.Sprintf("sample: error: unknown option %q", unknown)}
	}
	return stdin, nil
}

func (s *sample) pidFile() string {
	return filepath.Join(s.home, "run", fmt.Sprintf("%d.json", os.Getpid()))
}

// appear writes the pid file as a whole, so that nobody reads half of it.
func (s *sample) appear() error {
	self, err := proc.Inspect(os.Getpid())
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"session": s.id, "start": self.Ticks})
	if err != nil {
		return err
	}
	unfinished := filepath.Join(s.home, "run", "new")
	return errors.Join(
		os.MkdirAll(filepath.Dir(unfinished), 0o700), os.WriteFile(unfinished, text, 0o600), os.Rename(unfinished, s.pidFile()),
		s.write("start", workDir()),
	)
}

func (s *sample) record(prompt string) error { return s.write("prompt", prompt) }

// write appends a line to the transcript.
func (s *sample) write(kind, text string) error {
	return appendLines(filepath.Join(s.home, "sessions", s.id+".jsonl"), object{"time", stamp(), "type", kind, "text", text})
}

func (s *sample) tool(string) error   { return nil }
func (s *sample) result(string) error { return nil }
func (s *sample) retry() error        { return nil }

func (s *sample) finish(text string, failed bool) (int, error) {
	kind, code := "answer", 0
	if failed {
		kind, code = "error", 1
	}
	return code, errors.Join(s.write(kind, text), os.Remove(s.pidFile()))
}

func (s *sample) markers() []string           { return []string{sampleagent.EnvSession + "=" + s.id} }
func (s *sample) handledSignals() []os.Signal { return []os.Signal{unix.SIGTERM} }

func (s *sample) onSignal(sig syscall.Signal, kill func() bool) {
	kill()
	_ = os.Remove(s.pidFile()) // it may not be there yet
	os.Exit(128 + int(sig))
}

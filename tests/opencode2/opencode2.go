// Package opencode2 is a made-up program that does what is known of OpenCode 2 from its source (2.0.26): a background service that
// registers and runs all turns, and clients. No real one is at hand. It stands for the program in tests of what agentctl does with it. What a turn
// does stands in the prompt (package directive): text WORDS, shell COMMAND, question TEXT, hang, error STATUS.
package opencode2

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Schema makes the tables that a reader of sessions touches.
//
//go:embed schema.sql
var Schema string

// Version is what the program says that it is.
const Version = "2.0.26"

// registration is the content of service.json.
type registration struct {
	ID       string `json:"id"`
	Version  string `json:"version"`
	URL      string `json:"url"`
	PID      int    `json:"pid"`
	Password string `json:"password"`
}

// Main runs a command line of the program and returns its exit code.
func Main(args []string) int {
	err := command(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func command(args []string) error {
	words := append(slices.Clone(args), "", "", "")
	switch {
	case words[0] == "--version":
		fmt.Fprintln(os.Stdout, "opencode v"+Version)
		return nil
	case words[0] == "serve":
		return serve()
	case words[0] == "run":
		return run(args[1:])
	case words[0] == "api" && len(args) == 3:
		return request(args[1], args[2], nil, os.Stdout)
	case words[0] == "session" && words[1] == "delete":
		return request(http.MethodDelete, "/api/session/"+words[2], nil, io.Discard)
	case words[0] == "" || strings.HasPrefix(words[0], "-"): // the terminal
		if _, err := connect(); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	return fmt.Errorf("unknown command %q", args)
}

// dataDir and stateDir are where the program stores sessions, and where the service registers.
func dataDir() string { return xdg("XDG_DATA_HOME", ".local/share") }

func stateDir() string { return xdg("XDG_STATE_HOME", ".local/state") }

func xdg(key, usual string) string {
	dir := os.Getenv(key)
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), usual)
	}
	return filepath.Join(dir, "opencode")
}

func registrationPath() string { return filepath.Join(stateDir(), "service.json") }

// connect returns the service, which it starts if none lives.
func connect() (r registration, err error) {
	raw, err := os.ReadFile(registrationPath())
	if err == nil && json.Unmarshal(raw, &r) == nil {
		if c, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://")); err == nil {
			return r, c.Close()
		}
	}
	ready, registered, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer ready.Close()
	cmd := exec.Command("/proc/self/exe", "serve", "--service")
	if cmd.Path, err = os.Executable(); err != nil {
		return r, err
	}
	cmd.Args[0], cmd.Dir, cmd.ExtraFiles = os.Args[0], os.Getenv("HOME"), []*os.File{registered}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	registered.Close()
	if err != nil {
		return r, err
	}
	if _, err := io.ReadAll(ready); err != nil { // its end says that the service has registered, or ended
		return r, err
	}
	if raw, err = os.ReadFile(registrationPath()); err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

// request sends a request to the service and copies its answer.
func request(method, path string, body any, out io.Writer) error {
	r, err := connect()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(context.Background(), method, r.URL+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	q.SetBasicAuth("opencode", r.Password)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(out, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %s", answer.Status)
	}
	return nil
}

// prompt is a request to run a turn, and reply what its session is, and how it has ended.
type prompt struct{ Session, Directory, Title, Text string }

type reply struct{ Session, Outcome, Error string }

// run is a headless client: it sends the prompt on its stdin, or its arguments, and prints events until the turn has ended.
func run(args []string) error {
	p := prompt{Directory: os.Getenv("PWD")}
	var message []string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--format", "--model", "--agent":
			i++
		case "--session", "-s":
			i++
			p.Session = args[i]
		case "--title":
			i++
			p.Title = args[i]
		case "--auto":
		default:
			message = append(message, args[i])
		}
	}
	if p.Text = strings.Join(message, " "); p.Text == "" {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		p.Text = string(text)
	}
	event := func(kind string, r reply) error {
		e := map[string]any{"type": kind, "timestamp": time.Now().UnixMilli(), "sessionID": r.Session}
		if r.Error != "" {
			e["error"] = map[string]string{"type": "unknown", "message": r.Error}
		}
		return json.NewEncoder(os.Stdout).Encode(e)
	}
	var begun, ended reply
	if err := ask("/begin", p, &begun); err != nil {
		return event("error", reply{Error: err.Error()})
	}
	if err := event("step_start", begun); err != nil {
		return err
	}
	if err := ask("/wait", begun, &ended); err != nil {
		return err
	}
	if ended.Outcome == outcomeFailed {
		if err := event("error", ended); err != nil {
			return err
		}
		return fmt.Errorf("%s", ended.Error)
	}
	return event("step_finish", ended)
}

// ask sends a request of the made-up program's own, and decodes the answer.
func ask(path string, body, answer any) error {
	var out bytes.Buffer
	if err := request(http.MethodPost, path, body, &out); err != nil {
		return err
	}
	return json.Unmarshal(out.Bytes(), answer)
}

// newID makes an ID: the time, complemented in those of sessions, and random letters and digits.
func newID(prefix string) string {
	at := uint64(time.Now().UnixMilli()) << 12
	if prefix == "ses" {
		at = ^at
	}
	return fmt.Sprintf("%s_%012x%s", prefix, at&(1<<48-1), rand.Text()[:14])
}

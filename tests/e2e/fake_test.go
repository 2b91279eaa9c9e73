package e2e_test

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
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

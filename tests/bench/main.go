// Bench times agentctl beside public tools, in one run and in turns, and prints one table:
//
//	go run ./tests/bench
//
// The stores are made once and kept in the user's cache folder. Everything runs in a pid namespace of its own with a known number of
// processes. A bar that is not met makes the exit status 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"agentctl/tests/sandbox"
	"agentctl/tests/store/generate"
)

func main() {
	if code, played := playing(); played {
		os.Exit(code)
	}
	if code, ran := sandbox.Enter(sandbox.Processes); ran {
		os.Exit(code)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// idle is how many processes there are beside those that are measured.
const idle = 500

// home is one with generated sessions.
type home struct {
	dir      string
	sessions []generate.Session
}

func run() error {
	rounds := flag.Int("rounds", 15, "how often each command is timed")
	few := flag.Int("few", 100, "sessions in the small store")
	many := flag.Int("many", 10_000, "sessions in the large store")
	flag.Parse()
	if !sandbox.Inside() { // others' agents would be measured, and what is left would stay
		return errors.New("it needs a process table of its own")
	}
	for range idle {
		if err := exec.Command("sleep", "100000").Start(); err != nil { // they end with the namespace
			return err
		}
	}
	dir, err := os.MkdirTemp("", "agentctl-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bins, err := build(dir)
	if err != nil {
		return err
	}
	var homes []home
	for _, n := range []int{*few, *many} {
		o := generate.Defaults()
		o.Sessions = n
		made := filepath.Join(dir, fmt.Sprint("store-", n))
		sessions, err := generate.Store(made, o)
		if err != nil {
			return err
		}
		homes = append(homes, home{made, sessions})
	}
	list, err := stored(bins, homes[1])
	if err != nil {
		return err
	}
	measure(*rounds, list)
	live, err := measureLive(bins, *rounds, dir, homes)
	if err != nil {
		return err
	}
	list = append(list, live...)
	other, err := measureRest(bins, homes[1].dir)
	if err != nil {
		return err
	}
	if missed := printTable(os.Stdout, append(list, other...)); missed > 0 {
		return fmt.Errorf("%d bars not met", missed)
	}
	return nil
}

// binaries are what is measured.
type binaries struct{ agentctl, hello string }

// build makes agentctl as it is released, and the usual first program in Go with the same flags.
func build(dir string) (binaries, error) {
	b := binaries{filepath.Join(dir, "agentctl"), filepath.Join(dir, "hello")}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return b, fmt.Errorf("go list: %w", err)
	}
	script := filepath.Join(string(root[:len(root)-1]), "tests", "build")
	if out, err := exec.Command(script, b.agentctl).CombinedOutput(); err != nil {
		return b, fmt.Errorf("building agentctl: %w\n%s", err, out)
	}
	src := b.hello + ".go"
	if err := os.WriteFile(src, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"Hello, World!\") }\n"), 0o600); err != nil {
		return b, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.hello, src)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("building the yardstick: %w\n%s", err, out)
	}
	return b, nil
}

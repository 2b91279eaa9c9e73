package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaries are what is measured.
type binaries struct{ agentctl, hello string }

// build makes agentctl as it is released, and the usual first program in Go with the same flags.
func build(work string) (binaries, error) {
	b := binaries{filepath.Join(work, "agentctl"), filepath.Join(work, "hello")}
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

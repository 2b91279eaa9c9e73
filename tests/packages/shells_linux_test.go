package packages

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/term"
)

// shell is a shell as a user of the machine has it: the file that it reads first, below the home, and its text. It has what Debian's own
// template for a user has, and nothing of agentctl.
type shell struct {
	command  []string
	rc, text string
}

func shells() map[string]shell {
	return map[string]shell{
		"bash": {[]string{"bash", "-i"}, ".bashrc", ". /etc/skel/.bashrc\nPS1='READY> '\n"},
		"zsh":  {[]string{"zsh", "-i"}, ".zshrc", "autoload -Uz compinit\ncompinit\nPS1='READY> '\n"},
		"fish": {[]string{"fish", "-i"}, ".config/fish/config.fish", "set -g fish_greeting\nfunction fish_prompt; echo -n 'READY> '; end\n"},
	}
}

// completes types a command line with Tab, after the package was installed: the command, a flag's value and a session's ID are completed.
func (s shell) completes(t *testing.T, m machine) {
	rc := filepath.Join(m.home, s.rc)
	check(t, os.MkdirAll(filepath.Dir(rc), 0o755))
	check(t, os.WriteFile(rc, []byte(s.text), 0o644))
	cmd := m.command(t, append([]string{"sh", "-euc", `dpkg -i /mnt/*_"$(dpkg --print-architecture)".deb >/dev/null; cd; exec "$@"`, "sh"}, s.command...)...)
	terminal, err := term.Start(cmd)
	check(t, err)
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		terminal.Close()
	}()
	sees := func(texts ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		err := terminal.WaitUntil(ctx, func(screen string) bool {
			for _, text := range texts {
				_, rest, found := strings.Cut(screen, text)
				if !found {
					return false
				}
				screen = rest
			}
			return true
		})
		if err != nil {
			screen, _ := terminal.Screen()
			t.Fatalf("%q: %v\n%s", texts, err, screen)
		}
	}
	sees("READY>")
	check(t, terminal.Send("agentctl stat"+string(term.Tab)+sessionID[:4]+string(term.Tab)))
	sees("READY> agentctl status " + sessionID)
	check(t, terminal.Send(string(term.Enter)))
	sees(sessionID, "a stored prompt", "READY>")
	check(t, terminal.Send("agentctl list --status stop"+string(term.Tab)))
	sees("READY> agentctl list --status stopped")
}

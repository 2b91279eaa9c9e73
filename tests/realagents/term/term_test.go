package term

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

func start(t *testing.T, script string) *Terminal {
	t.Helper()
	cmd := exec.Command("/bin/bash", "-c", script)
	term, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		term.Close()
	})
	return term
}

func waitFor(t *testing.T, term *Terminal, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := term.WaitFor(ctx, text); err != nil {
		screen, _ := term.Screen()
		t.Fatalf("%q: %v\n%s", text, err, screen)
	}
}

func TestTyping(t *testing.T) {
	term := start(t, `read -r -p 'name? ' n; echo "hello $n"; read -r`)
	waitFor(t, term, "name?")
	if err := term.Send("you" + string(Enter)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "hello you")
}

// The programs under test ask their terminal for the cursor position and its kind, and wait for the answer.
func TestQueriesAreAnswered(t *testing.T) {
	term := start(t, `stty raw -echo; printf '\033[3;5H\033[6n'; IFS= read -r -d R pos; printf '\033[c'; IFS= read -r -d c kind
		stty cooked; printf 'at %s kind %s' "${pos#?}" "${kind#?}"; read -r`)
	waitFor(t, term, "at [3;5 kind [?")
}

func TestWrappedAndFramedTextIsFound(t *testing.T) {
	if !Contains("│ one tw │\n│ o three│", "one two three") || Contains("│ one │", "two") {
		t.Error("frames and blanks must not count, and nothing else must be left out")
	}
}

func TestTypedTextIsFound(t *testing.T) {
	for screen, want := range map[string]bool{
		"│ > back (a)\n │": true, "│ > backi(a) │": true, "│ > back i(a) │": true,
		"│ > bac i(a) │": false, "│ > back if(a) │": false, "│ > back │": false,
	} {
		if got := Typed(screen, "back (a)"); got != want {
			t.Errorf("%q: %v, want %v", screen, got, want)
		}
	}
}

func TestWaitingEnds(t *testing.T) {
	term := start(t, "echo bye")
	if err := term.WaitFor(t.Context(), "never shown"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the program has ended, but waiting says %v", err)
	}
	term = start(t, "read -r")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := term.WaitFor(gone, "never shown"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// Closing the terminal hangs up on its program, even while it is silent.
func TestCloseHangsUp(t *testing.T) {
	cmd := exec.Command("/bin/bash", "-c", "echo ready; read -r")
	term, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, "ready")
	term.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("the program has ended well, want it hung up on")
	}
}

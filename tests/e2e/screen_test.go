package e2e_test

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/tests/realagents/term"
)

// screenKey finds a script's terminal.
type screenKey struct{}

// screens are the commands about a terminal that a person looks at and types in.
func screenCommands() map[string]command {
	return map[string]command{
		// screen COMMAND…: runs it in a terminal of its own, until the script ends.
		"screen": withArgs(1, func(ts *testscript.TestScript, args []string) {
			path, err := lookPath(ts, args[0])
			ts.Check(err)
			cmd := &exec.Cmd{Path: path, Args: args, Dir: ts.MkAbs("."), Env: environ(ts)}
			t, err := term.Start(cmd)
			ts.Check(err)
			*ts.Value(screenKey{}).(**term.Terminal) = t
			ts.Defer(func() {
				t.Close()
				_ = cmd.Wait() // it was hung up on
			})
		}),
		// types TEXT: a Go string without its quotes.
		"types": withArgs(1, func(ts *testscript.TestScript, args []string) {
			ts.Check(screenOf(ts).Send(unquoted(`"` + strings.Join(args, " ") + `"`)))
		}),
		// sees TEXT…: waits until all of them stand on the screen, in this order; one that begins with - must not be there.
		"sees": withArgs(1, func(ts *testscript.TestScript, args []string) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := screenOf(ts).WaitUntil(ctx, func(screen string) bool { return holds(screen, args) }); err != nil {
				screen, _ := screenOf(ts).Screen()
				ts.Fatalf("%q: %v\n%s", args, err, screen)
			}
		}),
		// hangs-up takes the terminal away.
		"hangs-up": withArgs(0, func(ts *testscript.TestScript, _ []string) { screenOf(ts).Close() }),
		// resizes COLUMNS ROWS
		"resizes": withArgs(2, func(ts *testscript.TestScript, args []string) {
			columns, err := strconv.Atoi(args[0])
			ts.Check(err)
			rows, err := strconv.Atoi(args[1])
			ts.Check(err)
			ts.Check(screenOf(ts).Resize(columns, rows))
		}),
	}
}

func screenOf(ts *testscript.TestScript) *term.Terminal {
	return *ts.Value(screenKey{}).(**term.Terminal)
}

// holds reports whether the texts stand on a screen in their order.
func holds(screen string, texts []string) bool {
	rest := screen
	for _, text := range texts {
		if unwanted, no := strings.CutPrefix(text, "-"); no {
			if strings.Contains(screen, unwanted) {
				return false
			}
			continue
		}
		_, after, found := strings.Cut(rest, text)
		if !found {
			return false
		}
		rest = after
	}
	return true
}

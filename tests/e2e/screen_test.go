package e2e_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/net/html"

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

// picturesVariable names the folder that pictures are written to, as tests/pictures sets it.
const picturesVariable = "AGENTCTL_TEST_PICTURES"

// pictureCommands are the commands that make the pictures of the documents.
func pictureCommands() map[string]command {
	return map[string]command{
		// draws FILE: a picture of the screen.
		"draws": withArgs(1, func(ts *testscript.TestScript, args []string) {
			writePicture(ts, args[0], term.SVG(screenOf(ts).Cells()))
		}),
		// draws-page FILE WIDTH HEIGHT PAGE: a picture of the upper part of an HTML page.
		"draws-page": withArgs(4, func(ts *testscript.TestScript, args []string) {
			page, err := html.Parse(strings.NewReader(ts.ReadFile(args[3])))
			ts.Check(err)
			for n := range page.ChildNodes() {
				if n.Type == html.ElementNode {
					n.Attr = append(n.Attr, html.Attribute{Key: "xmlns", Val: "http://www.w3.org/1999/xhtml"})
					var b bytes.Buffer
					ts.Check(html.Render(&b, n))
					writePicture(ts, args[0], `<svg xmlns="http://www.w3.org/2000/svg" width="`+args[1]+`" height="`+args[2]+`"><foreignObject width="100%" height="100%">`+
						b.String()+"</foreignObject></svg>\n")
				}
			}
		}),
	}
}

// writePicture writes an SVG file, and a copy to where the variable says. The home of the script is that of some user.
func writePicture(ts *testscript.TestScript, name, svg string) {
	svg = strings.ReplaceAll(svg, ts.Getenv("HOME"), "/home/ana")
	if strings.Contains(svg, ts.Getenv("WORK")) {
		ts.Fatalf("the picture has a path of this machine:\n%s", svg)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			ts.Check(err)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(name), []byte(svg), 0o644))
	if dir := os.Getenv(picturesVariable); dir != "" {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(svg), 0o644))
	}
}

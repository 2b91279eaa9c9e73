package e2e_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/net/html"

	"agentctl/tests/realagents/term"
)

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

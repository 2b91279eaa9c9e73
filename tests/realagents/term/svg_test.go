package term

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The picture is XML, and has each text at its place and in its colours.
func TestSVG(t *testing.T) {
	term := start(t, `printf '\033[31mred\033[0m \033[30;43mwait\033[0m  漢字 a<b\r\n\033[7mall of it\033[0m\r\n\033[2mend\033[0m'; read -r`)
	waitFor(t, term, "end")
	picture := SVG(term.Cells())
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`height="78"`, // three rows
		`x="12.0" y="25" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#f2777a">red</text>`,
		`<rect x="45.6" y="12" width="33.6" height="18" fill="#e8c268"/>`, `fill="#16181d">wait</text>`,
		`x="96.0" y="25" textLength="33.6" lengthAdjust="spacingAndGlyphs" fill="#d8dce2">漢字</text>`, `x="138.0" y="25" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#d8dce2">a&lt;b</text>`,
		`fill="#1b1e24">all of it</text>`, `fill="#d8dce2" opacity="0.6">end</text>`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %s in\n%s", want, picture)
		}
	}
}

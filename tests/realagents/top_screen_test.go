package realagents

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/term"
)

// topScreen is a terminal that shows `agentctl top`.
type topScreen struct {
	t *testing.T
	*term.Terminal
}

// topIn runs `agentctl top` in a shell in a terminal. Before and after it, the shell writes the terminal's modes to files of these names.
func (c agentctl) topIn(before, after string, flags ...string) topScreen {
	c.t.Helper()
	script := `stty -g >"$0"; after=$1; shift; "$@"; code=$?; stty -g >"$after"; echo it ended with $code; read wait`
	cmd := exec.Command("/bin/sh", slices.Concat([]string{"-c", script, before, after, os.Getenv(binary), "top"}, flags)...)
	cmd.Env, cmd.Dir = append(slices.Clone(c.env), "HOME="+c.home), "/"
	terminal, err := term.Start(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	s := topScreen{c.t, terminal}
	c.t.Cleanup(func() {
		if c.t.Failed() {
			screen, _ := s.Screen()
			c.t.Logf("top:\n%s", screen)
		}
		terminal.Close()
		_ = cmd.Wait() // it was hung up on
	})
	return s
}

// types types text and keys.
func (s topScreen) types(keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		if err := s.Send(key); err != nil {
			s.t.Fatal(err)
		}
	}
}

// sees waits until one line of the screen matches the pattern, and no line matches any of the others.
func (s topScreen) sees(pattern string, not ...string) {
	s.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	unwanted := regexp.MustCompile("(?m)" + strings.Join(append(not, `\z.`), "|"))
	var screen string
	if !poll(func() bool {
		screen, _ = s.Screen()
		return want.MatchString(screen) && !unwanted.MatchString(screen)
	}) {
		s.t.Fatalf("top does not show %q without %q:\n%s", pattern, not, screen)
	}
}

// text returns the text of cells, with a NUL for the second cell of a wide character: one byte or more a cell.
func text(cells []term.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.Text == "" {
			c.Text = "\x00"
		}
		b.WriteString(c.Text)
	}
	return b.String()
}

// column returns the cell in which a text begins in a row; -1 if it is not there.
func column(cells []term.Cell, want string) int {
	for x := range cells {
		if strings.HasPrefix(text(cells[x:]), want) {
			return x
		}
	}
	return -1
}

// alwaysShown are the titles of columns that are there whatever the rows have.
func alwaysShown() []string { return []string{"STATUS", "AGENT", "DIR", "TITLE"} }

// aligned checks the table cell by cell, up to a width: below the title of each column is a gap of two blanks, then the column, in all
// rows.
func (s topScreen) aligned(width int, titles []string, agents ...string) {
	s.t.Helper()
	screen := s.Cells()
	head := slices.IndexFunc(screen, func(row []term.Cell) bool { return column(row, "STATUS") == 4 })
	if head < 0 {
		s.t.Fatal("there is no table")
	}
	for _, title := range titles {
		x := column(screen[head][:width], title)
		if x < 0 {
			s.t.Errorf("no column %s", title)
			continue
		}
		for i, agent := range agents {
			row := screen[head+1+i]
			if gap := text(row[x-2 : x]); gap != "  " && title != "STATUS" {
				s.t.Errorf("%q before %s in %q", gap, title, text(row))
			}
			if title == "AGENT" && !strings.HasPrefix(text(row[x:]), agent+" ") {
				s.t.Errorf("%q below AGENT, not %s", text(row[x:]), agent)
			}
			if title == "DIR" && row[x].Text == " " {
				s.t.Errorf("nothing below DIR in %q", text(row))
			}
		}
	}
}

// colored checks the colours of rows cell by cell: the selected one is inverse from edge to edge, the status of one that waits has a
// background, and nothing else has one.
func (s topScreen) colored() {
	s.t.Helper()
	screen := s.Cells()
	head := slices.IndexFunc(screen, func(row []term.Cell) bool { return column(row, "STATUS") == 4 })
	for y, row := range screen {
		selected, waits := y > head && row[0].Text == ">", y > head && column(row[:5], "w") == 4
		end := column(row, ")") + 1
		for x, cell := range row {
			if cell.Text == "" {
				continue // the second half of a wide character
			}
			if cell.Reverse != selected {
				s.t.Errorf("line %d, cell %d, %q: inverse: %v", y+1, x+1, cell.Text, cell.Reverse)
			}
			if background := cell.Background != nil; background != (waits && !selected && x >= 4 && x < end) {
				s.t.Errorf("line %d, cell %d, %q: background %v", y+1, x+1, cell.Text, cell.Background)
			}
		}
	}
}

// framed checks that the pane is beside the table: each line between the totals and the keys has the edge at one column.
func (s topScreen) framed(edge int) {
	s.t.Helper()
	screen := s.Cells()
	for y, row := range screen[2 : len(screen)-1] {
		if got := text(row[edge-1 : edge+2]); got != " │ " && !(y == 0 && strings.HasPrefix(got, " │")) {
			s.t.Errorf("line %d: %q at the edge in %q", y+3, got, text(row))
		}
	}
}

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/tests/must"
)

// recipeScripts are the scripts that run what README.md and docs/*.md print.
const recipeScripts = "testdata/recipes"

// moduleRoot is the module's folder, seen from this one.
const moduleRoot = "../.."

// TestRecipes runs the commands that the documents print, as they are printed.
func TestRecipes(t *testing.T) {
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the documents' commands need %s: %v", program, err)
		}
	}
	tools := t.TempDir()
	addJQ(t, tools)
	root, err := filepath.Abs(moduleRoot)
	must.Do(t, err)
	goVariables, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	must.Do(t, err)
	values := strings.Split(string(goVariables), "\n")
	p := scripts(recipeScripts)
	prepare := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if err := prepare(env); err != nil {
			return err
		}
		bin := filepath.Join(env.WorkDir, "bin") // for the script's own stubs
		env.Setenv("PATH", bin+":"+filepath.Join(env.WorkDir, "home", ".local", "bin")+":"+env.Getenv("PATH")+":"+tools)
		env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		env.Setenv("USER", "ana")
		env.Setenv("ROOT", root)
		for i, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT"} {
			env.Setenv(name, values[i])
		}
		person := "[user]\n\tname = Ana\n\temail = ana@example.com\n[init]\n\tdefaultBranch = main\n"
		if err := os.WriteFile(filepath.Join(env.WorkDir, "home", ".gitconfig"), []byte(person), 0o600); err != nil {
			return err
		}
		return os.Mkdir(bin, 0o755)
	}
	p.Cmds["recipe"] = recipe(root)
	p.Cmds["line"] = recipeLine(root)
	p.Cmds["copied"] = recipeFile(root)
	p.Cmds["elsewhere"] = recipeElsewhere(root)
	p.Cmds["ask-until"] = askUntil()
	p.Cmds["stub"] = stub()
	run(t, p)
}

// recipe ID [OLD=NEW…] CODE…: runs the commands of a block in one shell, with pipefail and no unset variables, except those that the script runs by line, and checks the exit
// code of each. OLD stands for the example's own values.
func recipe(root string) command {
	return withArgs(2, func(ts *testscript.TestScript, args []string) {
		b, err := findBlock(root, args[0])
		ts.Check(err)
		var script strings.Builder
		script.WriteString("set -uo pipefail\n")
		single := ts.Getenv("lines_" + args[0])
		for _, command := range b.Commands() {
			if !slices.Contains(strings.Split(single, "\n"), command) {
				fmt.Fprintf(&script, "%s\necho $? >>\"$WORK/codes\"\n", command)
			}
		}
		text, codes := replaced(script.String(), args[1:])
		file := filepath.Join(ts.Getenv("WORK"), "recipe.sh")
		ts.Check(os.WriteFile(file, []byte(text), 0o600))
		_ = os.Remove(filepath.Join(ts.Getenv("WORK"), "codes"))
		ts.Check(ts.Exec("bash", file))
		got := strings.Fields(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), "codes")))
		if !slices.Equal(got, codes) {
			ts.Fatalf("%s: exit codes %v, want %v", args[0], got, codes)
		}
	})
}

// replaced fills in the arguments OLD=NEW; the rest of them is returned.
func replaced(text string, args []string) (string, []string) {
	for len(args) > 0 && strings.Contains(args[0], "=") {
		old, value, _ := strings.Cut(args[0], "=")
		text, args = strings.ReplaceAll(text, old, value), args[1:]
	}
	return text, args
}

// line ID TEXT [OLD=NEW…]: $line is the command of a block that contains the text; recipe leaves it out from then on.
func recipeLine(root string) command {
	return withArgs(2, func(ts *testscript.TestScript, args []string) {
		b, err := findBlock(root, args[0])
		ts.Check(err)
		found, err := b.Line(args[1])
		ts.Check(err)
		ts.Setenv("lines_"+b.ID, ts.Getenv("lines_"+b.ID)+"\n"+found)
		found, _ = replaced(found, args[2:])
		ts.Setenv("line", found)
	})
}

// copied ID PATH [OLD=NEW…]: writes a block to a file.
func recipeFile(root string) command {
	return withArgs(2, func(ts *testscript.TestScript, args []string) {
		b, err := findBlock(root, args[0])
		ts.Check(err)
		text, _ := replaced(b.Text, args[2:])
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
	})
}

// elsewhere ID FILE TEXT [LINE]: a block, or its command that contains LINE, is run by what FILE has.
func recipeElsewhere(root string) command {
	return withArgs(3, func(ts *testscript.TestScript, args []string) {
		text, err := os.ReadFile(filepath.Join(root, args[1]))
		ts.Check(err)
		if !strings.Contains(string(text), args[2]) {
			ts.Fatalf("%s has no %q", args[1], args[2])
		}
		if len(args) > 3 {
			recipeLine(root)(ts, false, []string{args[0], args[3]})
		}
	})
}

// ask-until NAME FILE: a fake asks, again and again, until whoever watches has made FILE.
func askUntil() command {
	return withArgs(2, func(ts *testscript.TestScript, args []string) {
		file := ts.MkAbs(args[1])
		_ = os.Remove(file)
		made := func() bool { // and written: the shell makes it before its command writes
			info, err := os.Stat(file)
			return err == nil && info.Size() > 0
		}
		for end := time.Now().Add(time.Minute); ; {
			for _, order := range []string{"prompt go on", "ask"} {
				fakesOf(ts).tell(ts, args[0], order)
			}
			if within(3*time.Second, made) {
				return
			}
			if time.Now().After(end) {
				ts.Fatalf("%s was not made", args[1])
			}
			fakesOf(ts).tell(ts, args[0], "answer done")
			within(3*time.Second, made) // a watcher that began while the fake waited sees first that it waits no more
		}
	})
}

// within asks until the answer is yes, for a time.
func within(d time.Duration, ask func() bool) bool {
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-poll.C {
		if ask() {
			return true
		}
	}
	return false
}

// stub NAME COMMANDS: a program of that name, which is a shell's script.
func stub() command {
	return withArgs(2, func(ts *testscript.TestScript, args []string) {
		file := filepath.Join(ts.Getenv("WORK"), "bin", args[0])
		ts.Check(os.WriteFile(file, []byte("#!/bin/sh\n"+strings.Join(args[1:], " ")+"\n"), 0o755))
	})
}

// TestEveryRecipeIsRun holds the scripts against the documents: no block, and no line of one, is left out.
func TestEveryRecipeIsRun(t *testing.T) {
	blocks, err := readBlocks(moduleRoot)
	must.Do(t, err)
	names, err := filepath.Glob(filepath.Join(recipeScripts, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	whole, single := map[string]bool{}, map[string][]string{}
	entry := regexp.MustCompile(`(?m)^(recipe|line|copied|elsewhere) (\S+) ?(.*)$`)
	for _, name := range names {
		text, err := os.ReadFile(name)
		must.Do(t, err)
		for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
			args := strings.Fields(m[3])
			switch {
			case m[1] == "line":
				single[m[2]] = append(single[m[2]], args[0])
			case m[1] == "elsewhere" && len(args) > 2:
				single[m[2]] = append(single[m[2]], args[2])
			default:
				whole[m[2]] = true
			}
		}
	}
	for _, b := range blocks {
		if whole[b.ID] {
			continue
		}
		for _, command := range b.Commands() {
			if !slices.ContainsFunc(single[b.ID], func(text string) bool { return strings.Contains(command, text) }) {
				t.Errorf("%s: no script in %s runs %q", b.ID, recipeScripts, command)
			}
		}
	}
}

// documentBlock is a fenced block of a document that a reader is meant to copy.
type documentBlock struct {
	// ID names the block: the document, the heading above it as in a link, and its number below that heading ("docs/cli.md:list/1").
	ID string
	// Language is what follows the fence: "sh", "toml", "yaml", or "console" for a shell session whose commands begin with "$ ".
	Language string
	// Text is the content as printed.
	Text string
}

// Commands are the command lines of a shell's block, without those that hold a comment only.
func (b documentBlock) Commands() []string {
	var out []string
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSuffix(line, "\n")
		if b.Language == "console" {
			var command bool
			if line, command = strings.CutPrefix(line, "$ "); !command {
				continue
			}
		}
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// Line is the only command of the block that contains a text.
func (b documentBlock) Line(text string) (string, error) {
	found := ""
	for _, line := range b.Commands() {
		if !strings.Contains(line, text) {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%s: two lines contain %q", b.ID, text)
		}
		found = line
	}
	if found == "" {
		return "", fmt.Errorf("%s: no line contains %q", b.ID, text)
	}
	return found, nil
}

// readBlocks returns the blocks of README.md and docs/*.md below root, the module's folder. It leaves out usage lines and sample output
// (no language and no "$ "), and JSON, which other tests hold against the schema.
func readBlocks(root string) ([]documentBlock, error) {
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var out []documentBlock
	for _, name := range append([]string{filepath.Join(root, "README.md")}, names...) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		document, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		found, err := parseBlocks(filepath.ToSlash(document), string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, errors.New("no block in any document")
	}
	return out, nil
}

// findBlock returns the block with an ID.
func findBlock(root, id string) (documentBlock, error) {
	blocks, err := readBlocks(root)
	if err != nil {
		return documentBlock{}, err
	}
	for _, b := range blocks {
		if b.ID == id {
			return b, nil
		}
	}
	return documentBlock{}, fmt.Errorf("no document has the block %s", id)
}

func parseBlocks(document, text string) ([]documentBlock, error) {
	var out []documentBlock
	heading, count, open := "", 0, false
	var current documentBlock
	for line := range strings.Lines(text) {
		fence, isFence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case isFence && !open:
			current, open = documentBlock{Language: fence}, true
		case isFence:
			open = false
			if current.Language == "" && strings.HasPrefix(current.Text, "$ ") {
				current.Language = "console"
			}
			if current.Language == "" || strings.HasPrefix(current.Language, "json") {
				continue
			}
			count++
			current.ID = fmt.Sprintf("%s:%s/%d", document, heading, count)
			out = append(out, current)
		case open:
			current.Text += line
		case strings.HasPrefix(line, "#"):
			heading, count = headingAnchor(line), 0
		}
	}
	if open {
		return nil, fmt.Errorf("%s: a fenced block is not closed", document)
	}
	return out, nil
}

// headingAnchor is the name that a link to a heading has.
func headingAnchor(heading string) string {
	words := strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, words)
}

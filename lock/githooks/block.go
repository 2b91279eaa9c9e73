package githooks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// form is how our lines stand in a hook.
type form string

const (
	// formInserted: they were put into a script that was there.
	formInserted form = "block"
	// formStandalone: the file was made for them.
	formStandalone form = "file"
	// formChained: the file was made for them, and goes on as the hook that was there, under another name.
	formChained form = "chain"
)

// shebang begins the files that we make.
const shebang = "#!/bin/sh\n"

// originalExt ends the name of a hook that was there and could not take our lines.
const originalExt = ".agentctl-original"

// block is what we put into a hook.
type block struct {
	form form
	body string
}

// newBlock writes the lines for a hook. They do not depend on how the script around them runs (-e, -u), leave its
// arguments and its stdin alone, and never end it but to stop git.
func newBlock(hook string, f form, want InstallOptions) block {
	var b strings.Builder
	fmt.Fprintf(&b, "agentctl_program=%s\n", ShellQuote(want.Program))
	b.WriteString(`[ -x "$agentctl_program" ] || agentctl_program=$(command -v agentctl) || agentctl_program=` + "\n")
	call, failed := "hooks run "+hook, "case $? in 5 | 6) exit 1 ;; esac"
	switch hook {
	case prepareCommitMsg:
		if want.Merges {
			call += " " + mergesFlag
		}
		call, failed = call+` -- "$@"`, ":"
	case postCheckout: // it is too late, and git would fail for it
		call, failed = call+` -- "$@"`, ":"
	}
	fmt.Fprintf(&b, "[ -z \"$agentctl_program\" ] || \"$agentctl_program\" %s </dev/null || %s\n", call, failed)
	if f == formChained {
		fmt.Fprintf(&b, "[ ! -x \"$0%s\" ] || exec \"$0%s\" \"$@\"\n", originalExt, originalExt)
	}
	return block{f, b.String()}
}

const mergesFlag = "--trailer-merges"

func (b block) String() string {
	return fmt.Sprintf("%s%s %s >>> taken out by: agentctl hooks uninstall\n%s%s", beginMarker, b.form, b.sum(), b.body, endMarker)
}

func (b block) sum() string {
	sum := sha256.Sum256([]byte(string(b.form) + "\n" + b.body))
	return hex.EncodeToString(sum[:6])
}

// program is the agentctl that the lines call.
func (b block) program() string {
	value := strings.TrimPrefix(strings.SplitN(b.body, "\n", 2)[0], "agentctl_program=")
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'"), `'\''`, "'")
}

func (b block) merges() bool { return strings.Contains(b.body, mergesFlag) }

// ShellQuote returns a text as one word of a POSIX shell.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// parsedBlock is what there is of ours in a file.
type parsedBlock struct {
	block
	// around is the file without the lines; at is where they stood.
	around string
	offset int
}

// The marks around our lines.
const (
	beginMarker = "# >>> agentctl hooks: "
	endMarker   = "# <<< agentctl hooks <<<\n"
)

// findBlock finds our lines. Any part of their marks that is not as we write it makes them broken.
func findBlock(text string) (m parsedBlock, found, broken bool) {
	at := strings.Index(text, beginMarker)
	to := strings.Index(text, endMarker)
	if at < 0 && !strings.Contains(text, strings.TrimSpace(endMarker)) {
		return m, false, false
	}
	if at < 0 || to < at || at > 0 && text[at-1] != '\n' {
		return m, false, true
	}
	to += len(endMarker)
	first, rest, _ := strings.Cut(text[at:to], "\n")
	name, _, _ := strings.Cut(first[len(beginMarker):], " ")
	m = parsedBlock{block{form(name), strings.TrimSuffix(rest, endMarker)}, text[:at] + text[to:], at}
	_, more, moreBroken := findBlock(m.around)
	// That the lines are whole, the checksum says; where they were made for a chain, nothing may stand behind it: it would
	// never run.
	return m, true, more || moreBroken || m.String() != text[at:to] || m.form == formChained && m.around != shebang
}

package completion

import (
	"cmp"
	"context"
	"strings"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// completePowerShell takes the words up to the cursor without their quotes, the last one unfinished, in one argument with a line feed
// between them: versions before 7.3 do not pass on an empty argument. It prints the text to insert, the word and its description in
// turn. PowerShell inserts the text as it is, so it is quoted here.
func completePowerShell(ctx context.Context, f cmdutil.Factory, verbs []cmdutil.Verb, args []string) string {
	if len(args) != 1 {
		return ""
	}
	var b strings.Builder
	for _, o := range matching(ctx, f, verbs, strings.Split(args[0], "\n")) {
		if strings.Contains(o.text, "\n") {
			continue
		}
		word := output.Sanitize(o.text)
		// an empty text of a result is an error in PowerShell
		b.WriteString(powerShellQuoted(o.text) + "\x00" + word + "\x00" + cmp.Or(output.Sanitize(o.description), word) + "\x00")
	}
	return b.String()
}

// powerShellQuoted quotes a text unless PowerShell takes it as it is. In single quotes, only these themselves have a meaning; the
// typographic ones are single quotes to PowerShell too.
func powerShellQuoted(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	return "'" + b.String() + "'"
}

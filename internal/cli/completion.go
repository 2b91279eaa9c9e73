package cli

import (
	"cmp"
	"context"
	"embed"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"agentctl/internal/render"
)

func completionCommand(env Env) *cli.Command {
	return &cli.Command{
		Usage:              "print a completion script for bash, zsh, fish or PowerShell",
		UsageText:          "agentctl completion bash|zsh|fish|powershell",
		ArgsUsage:          "SHELL",
		CustomHelpTemplate: HelpTemplate("source <(agentctl completion bash)", "agentctl completion fish | source"),
		Action: WithArgument("a shell: bash, zsh, fish or powershell", func(_ context.Context, shell string) error {
			if !slices.Contains(shells(), shell) {
				return UnknownWord("shell", shell, shells())
			}
			script, err := completionScripts.ReadFile("completion/agentctl." + shell)
			if err == nil {
				_, err = env.Stdout.Write(script)
			}
			return err
		}),
	}
}

// completeCommand makes the hidden command that the completion scripts call: `agentctl __complete SHELL …`. The form of the
// further arguments depends on the shell (see [completer.complete]). It prints the candidates, and never fails: a command line
// that cannot be completed has none.
func completeCommand(env Env) *cli.Command {
	return &cli.Command{
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return nil
			}
			_, err := io.WriteString(env.Stdout, completer{c.Context, env}.complete(args[0], args[1:]))
			return err
		},
	}
}

// complete answers the completion script of a shell. Every record ends with a NUL.
//
// Zsh and fish give the words up to the cursor without their quotes, the last one unfinished, and quote what they insert. For
// zsh words and descriptions come in turn. For fish a word has a tab and its description behind it. PowerShell gives the words in one
// argument with a line feed between them, since versions before 7.3 do not pass on an empty argument, and is given the text to
// insert, the word and its description in turn: it inserts the text as it is, so it is quoted here, as for bash (see [bashRequest]).
func (c completer) complete(shell string, args []string) string {
	words := args
	var record func(word, about string) string
	switch shell {
	case "bash":
		words, record = bashRequest(args)
	case "zsh":
		record = func(word, about string) string { return word + "\x00" + about + "\x00" }
	case "fish":
		record = func(word, about string) string { return strings.TrimSuffix(word+"\t"+about, "\t") + "\x00" }
	case "powershell":
		words = strings.Split(strings.Join(args, "\n"), "\n")
		record = func(word, about string) string { // an empty text of a result is an error in PowerShell
			return powerShellQuoted(word) + "\x00" + word + "\x00" + cmp.Or(about, word) + "\x00"
		}
	}
	if record == nil || len(words) == 0 {
		return ""
	}
	var b strings.Builder
	for _, o := range c.candidates(words) {
		if strings.HasPrefix(o.text, words[len(words)-1]) && !strings.ContainsFunc(o.text, unprintable) {
			b.WriteString(record(o.text, render.Sanitize(o.description)))
		}
	}
	return b.String()
}

// unprintable reports whether a word with this character is not offered: only some shells could insert it.
func unprintable(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completionScripts has the script of each shell. It gives the words before the cursor, the last one unfinished, to `agentctl
// __complete SHELL`, and offers the answer in its order, or files if there is none. Inserted words are quoted: by the
// shell, for bash and PowerShell by agentctl. What agentctl prints is never evaluated.
//
//go:embed completion
var completionScripts embed.FS

// bashRequest takes the command line up to the cursor, as typed, and the end of it that readline replaces (bash's $2,
// which begins after a quote or any of COMP_WORDBREAKS). It returns the words, none if there is nothing to complete, and how to print
// a candidate: the text to insert and its description. Bash inserts the text as it is, so it is quoted here.
func bashRequest(args []string) (words []string, record func(word, about string) string) {
	if len(args) != 2 || !strings.HasSuffix(args[0], args[1]) {
		return nil, nil
	}
	line, kept := args[0], strings.TrimSuffix(args[0], args[1])
	words, start, _ := bashWords(line)
	if len(words) < 2 || len(kept) < start {
		return nil, nil
	}
	stays, _, quote := bashWords(kept[start:])
	return words[1:], func(word, about string) string {
		rest, ok := strings.CutPrefix(word, stays[0])
		if !ok {
			return ""
		}
		return bashQuoted(rest, quote) + "\x00" + about + "\x00"
	}
}

// bashWords splits a line into words without their quotes. The last word, which begins at start, is unfinished; it is
// empty if the line ends between words. quote is the quote that is open at the end: ', ", or 0. Nothing is expanded.
func bashWords(line string) (words []string, start int, quote byte) {
	var word strings.Builder
	inside := false // a word
	for i := 0; i < len(line); i++ {
		c := line[i]
		blank := quote == 0 && (c == ' ' || c == '\t' || c == '\n')
		if blank && !inside {
			continue
		}
		if !inside {
			inside, start = true, i
		}
		next := byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case blank:
			words, inside = append(words, word.String()), false
			word.Reset()
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == c && quote != 0:
			quote = 0
		case c == '\\' && next == 0 && quote != '\'': // the character behind it is not typed yet
		case c == '\\' && (quote == 0 || quote == '"' && strings.IndexByte("$`\"\\", next) >= 0):
			word.WriteByte(next)
			i++
		default:
			word.WriteByte(c)
		}
	}
	if !inside {
		start = len(line)
	}
	return append(words, word.String()), start, quote
}

// bashQuoted quotes a text for bash where this quote is open: ', ", or 0 for none. The quote stays open after it.
func bashQuoted(text string, quote byte) string {
	special := map[byte]string{0: " !\"#$&'()*:;<=>?@[\\]^`{|},~", '"': "\"$\\`"}[quote]
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case quote == '\'' && r == '\'':
			b.WriteString(`'\''`)
		case quote == '"' && r == '!': // a backslash would stay in front of it
			b.WriteString(`"'!'"`)
		default:
			b.WriteRune(r)
		}
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
	return "'" + strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b").Replace(text) + "'"
}

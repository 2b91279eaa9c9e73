package completion

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/lock/githooks"
)

// candidate is a word that could complete the command line, with its description.
type candidate struct{ text, description string }

// NewComplete makes the hidden command that the completion scripts call: `agentctl __complete SHELL …`. The form of the
// further arguments depends on the shell (see [complete]). It prints the candidates, and never fails: a command line
// that cannot be completed has none.
func NewComplete(f cmdutil.Factory, verbs func() []cmdutil.Verb) *cli.Command {
	return &cli.Command{
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return nil
			}
			_, err := io.WriteString(f.Stdout, complete(c.Context, f, verbs(), args[0], args[1:]))
			return err
		},
	}
}

// complete answers the completion script of a shell. Every record ends with a NUL, since a word may hold any other character, a
// line break too.
//
// Zsh and fish give the words up to the cursor without their quotes, the last one unfinished, and quote what they insert. For
// zsh words and descriptions come in turn. For fish a word has a tab and its description behind it: one that has a tab itself
// cannot be offered.
func complete(ctx context.Context, f cmdutil.Factory, verbs []cmdutil.Verb, shell string, args []string) string {
	switch shell {
	case "bash":
		return completeBash(ctx, f, verbs, args)
	case "powershell":
		return completePowerShell(ctx, f, verbs, args)
	}
	var b strings.Builder
	for _, o := range matching(ctx, f, verbs, args) {
		about := output.Sanitize(o.description)
		switch {
		case shell == "zsh":
			b.WriteString(o.text + "\x00" + about + "\x00")
		case shell != "fish" || strings.Contains(o.text, "\t"):
		case about == "":
			b.WriteString(o.text + "\x00")
		default:
			b.WriteString(o.text + "\t" + about + "\x00")
		}
	}
	return b.String()
}

// matching returns the candidates that begin with the last word.
func matching(ctx context.Context, f cmdutil.Factory, verbs []cmdutil.Verb, words []string) []candidate {
	if len(words) == 0 {
		return nil
	}
	typed := words[len(words)-1]
	return slices.DeleteFunc(candidates(ctx, f, verbs, words), func(o candidate) bool {
		return !strings.HasPrefix(o.text, typed) || strings.ContainsRune(o.text, 0)
	})
}

// candidates returns the words that could replace the last word.
func candidates(ctx context.Context, f cmdutil.Factory, verbs []cmdutil.Verb, words []string) []candidate {
	commands := cmdutil.NewApp(f, verbs).Commands
	help := words[0] == "help" && len(words) > 1 && !strings.HasPrefix(words[len(words)-1], "-")
	if help {
		words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	}
	var verb *cli.Command
	for ; len(commands) > 0; words = words[1:] {
		if len(words) == 1 {
			return commandCandidates(commands)
		}
		if verb = cmdutil.CommandNamed(commands, words[0]); verb == nil || verb.Hidden {
			return nil
		}
		if commands = verb.Subcommands; len(commands) == 0 {
			break
		}
	}
	if help || slices.Contains(words[:len(words)-1], "--") {
		return nil
	}
	if name, prefix, ok := pendingFlag(verb, words); ok {
		return valueCandidates(ctx, f, verb, name, prefix, strings.TrimPrefix(words[len(words)-1], prefix))
	}
	if strings.HasPrefix(words[len(words)-1], "-") {
		return flagCandidates(verb)
	}
	// No shell's quotes keep an argument that begins with a dash from being read as a flag.
	return slices.DeleteFunc(argumentCandidates(ctx, f, verb, words), func(o candidate) bool { return strings.HasPrefix(o.text, "-") })
}

// argumentCandidates returns the words that could be the argument that is typed last.
func argumentCandidates(ctx context.Context, f cmdutil.Factory, verb *cli.Command, words []string) []candidate {
	first := argumentsBefore(verb, words) == 0
	switch {
	case verb.Name == "completion":
		return candidatesOf("", shells()...)
	case verb.Name == "schema":
		return candidatesOf("", cmdutil.Schemas()...)
	case strings.HasPrefix(verb.ArgsUsage, "HOOK ") && first:
		return candidatesOf("", githooks.Names()...)
	case verb.ArgsUsage == "WORKTREE…":
		return worktreeCandidates(ctx, f)
	case verb.Name == "launch" && first:
		return candidatesOf("", f.AgentNames()...)
	case verb.Name == "resume" && first, verb.Name == "rm", verb.Name == "archive", verb.Name == "unarchive":
		return idCandidates(ctx, f, verb, words, discover.SessionFilter{IncludeStopped: true, Statuses: []discover.Status{discover.Stopped}})
	case verb.ArgsUsage == "ID" && verb.Name != "attach", verb.Name == "export":
		return idCandidates(ctx, f, verb, words, discover.SessionFilter{IncludeStopped: true})
	case verb.ArgsUsage == "ID…", verb.Name == "attach", verb.Name == "send" && first: // what is done to live sessions
		return idCandidates(ctx, f, verb, words, discover.SessionFilter{})
	}
	return nil
}

// argumentsBefore counts the words between the verb and the last one that are neither flags nor the values of flags.
func argumentsBefore(verb *cli.Command, words []string) (n int) {
	for i := 1; i < len(words)-1; i++ {
		_, _, value := pendingFlag(verb, words[:i+1])
		if !value && !strings.HasPrefix(words[i], "-") {
			n++
		}
	}
	return n
}

func commandCandidates(commands []*cli.Command) []candidate {
	var out []candidate
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, candidate{c.Name, c.Usage})
		}
	}
	return out
}

func flagCandidates(verb *cli.Command) []candidate {
	var out []candidate
	for _, f := range verb.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			out = append(out, candidate{cmdutil.FlagText(f.Names()[0]), strings.ReplaceAll(d.GetUsage(), "`", "")})
		}
	}
	return append(out, candidate{"--help", "show help"})
}

// pendingFlag finds the flag whose value is being typed: --flag VALUE or --flag=VALUE. prefix is what precedes the
// value in the same word.
func pendingFlag(verb *cli.Command, words []string) (name, prefix string, ok bool) {
	last, before := words[len(words)-1], words[len(words)-2]
	if flag, _, joined := strings.Cut(last, "="); joined && takesValue(verb, flag) {
		return strings.TrimLeft(flag, "-"), flag + "=", true
	}
	return strings.TrimLeft(before, "-"), "", takesValue(verb, before)
}

func takesValue(verb *cli.Command, word string) bool {
	f := cmdutil.FlagOf(verb, strings.TrimLeft(word, "-"))
	return strings.HasPrefix(word, "-") && f != nil && f.TakesValue()
}

func candidatesOf(prefix string, words ...string) []candidate {
	var out []candidate
	for _, w := range words {
		out = append(out, candidate{prefix + w, ""})
	}
	return out
}

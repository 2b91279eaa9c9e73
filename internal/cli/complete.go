package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/lock/githooks"
)

// offer is a word that would complete the command line, and a description of it.
type offer struct{ word, about string }

// newComplete makes the command that the completion scripts call: `agentctl __complete SHELL …`, where the further arguments are
// in the form of that shell (see [Env.complete]). It prints the offers, and never fails: a command line that cannot be completed
// has none.
func newComplete(env Env, verbs func() []verb) *cli.Command {
	return &cli.Command{
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return nil
			}
			_, err := io.WriteString(env.Stdout, env.complete(c.Context, verbs(), args[0], args[1:]))
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
func (env Env) complete(ctx context.Context, verbs []verb, shell string, args []string) string {
	if shell == "bash" {
		return env.completeBash(ctx, verbs, args)
	}
	var b strings.Builder
	for _, o := range env.matching(ctx, verbs, args) {
		about := output.Sanitize(o.about)
		switch {
		case shell == "zsh":
			b.WriteString(o.word + "\x00" + about + "\x00")
		case shell != "fish" || strings.Contains(o.word, "\t"):
		case about == "":
			b.WriteString(o.word + "\x00")
		default:
			b.WriteString(o.word + "\t" + about + "\x00")
		}
	}
	return b.String()
}

// matching are the offers that begin with the last word.
func (env Env) matching(ctx context.Context, verbs []verb, words []string) []offer {
	if len(words) == 0 {
		return nil
	}
	typed := words[len(words)-1]
	return slices.DeleteFunc(env.offers(ctx, verbs, words), func(o offer) bool {
		return !strings.HasPrefix(o.word, typed) || strings.ContainsRune(o.word, 0)
	})
}

// offers are the words that could stand where the last of the words stands.
func (env Env) offers(ctx context.Context, verbs []verb, words []string) []offer {
	commands := newApp(env, verbs).Commands
	if words[0] == "help" && len(words) > 1 {
		words = words[1:]
	}
	var verb *cli.Command
	for ; len(commands) > 0; words = words[1:] {
		if len(words) == 1 {
			return verbOffers(commands)
		}
		if verb = commandNamed(commands, words[0]); verb == nil || verb.Hidden {
			return nil
		}
		if commands = verb.Subcommands; len(commands) == 0 {
			break
		}
	}
	if slices.Contains(words[:len(words)-1], "--") {
		return nil
	}
	if name, prefix, ok := pendingFlag(verb, words); ok {
		return env.valueOffers(ctx, verb, name, prefix, strings.TrimPrefix(words[len(words)-1], prefix))
	}
	if strings.HasPrefix(words[len(words)-1], "-") {
		return flagOffers(verb)
	}
	// No shell's quotes keep an argument that begins with a dash from being read as a flag.
	return slices.DeleteFunc(env.argumentOffers(ctx, verb, words), func(o offer) bool { return strings.HasPrefix(o.word, "-") })
}

// argumentOffers are the words that could stand as the argument that is typed last.
func (env Env) argumentOffers(ctx context.Context, verb *cli.Command, words []string) []offer {
	first := argumentsBefore(verb, words) == 0
	switch {
	case verb.Name == "completion":
		return offersOf("", shells()...)
	case strings.HasPrefix(verb.ArgsUsage, "HOOK ") && first:
		return offersOf("", githooks.Names()...)
	case verb.ArgsUsage == "WORKTREE…":
		return env.worktreeOffers(ctx)
	case verb.Name == "launch" && first:
		return offersOf("", env.agentNames()...)
	case verb.Name == "resume" && first:
		return env.idOffers(ctx, discover.SessionFilter{IncludeStopped: true, Statuses: []discover.Status{discover.Stopped}})
	case verb.ArgsUsage == "ID":
		return env.idOffers(ctx, discover.SessionFilter{IncludeStopped: true})
	case verb.ArgsUsage == "ID…": // what is done to live sessions
		return env.idOffers(ctx, discover.SessionFilter{})
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

func verbOffers(commands []*cli.Command) []offer {
	var out []offer
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, offer{c.Name, c.Usage})
		}
	}
	return out
}

func flagOffers(verb *cli.Command) []offer {
	var out []offer
	for _, f := range verb.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			out = append(out, offer{dashed(f.Names()[0]), strings.ReplaceAll(d.GetUsage(), "`", "")})
		}
	}
	return append(out, offer{"--help", "show help"})
}

// pendingFlag finds the flag whose value is being typed: --flag VALUE or --flag=VALUE. prefix is what stands before the value in
// the same word.
func pendingFlag(verb *cli.Command, words []string) (name, prefix string, ok bool) {
	last, before := words[len(words)-1], words[len(words)-2]
	if flag, _, joined := strings.Cut(last, "="); joined && takesValue(verb, flag) {
		return strings.TrimLeft(flag, "-"), flag + "=", true
	}
	return strings.TrimLeft(before, "-"), "", takesValue(verb, before)
}

func takesValue(verb *cli.Command, word string) bool {
	f := flagOf(verb, strings.TrimLeft(word, "-"))
	return strings.HasPrefix(word, "-") && f != nil && f.TakesValue()
}

func offersOf(prefix string, words ...string) []offer {
	var out []offer
	for _, w := range words {
		out = append(out, offer{prefix + w, ""})
	}
	return out
}

// maxOffers is how many sessions are offered, the newest.
const maxOffers = 200

// idOffers are the sessions of a selection, in the order of `list`.
func (env Env) idOffers(ctx context.Context, sel discover.SessionFilter) []offer {
	sel.Limit = maxOffers
	sessions := env.offeredSessions(ctx, sel)
	var out []offer
	for i, name := range argumentsOf(sessions) {
		if s := sessions[i]; name != "" {
			out = append(out, offer{name, fmt.Sprintf("%s %s: %s", s.Agent, s.Status, cmp.Or(s.Title, s.Prompt, s.Dir))})
		}
	}
	return out
}

// offeredSessions are the sessions of a selection within the time of the configuration; none if they cannot be read.
func (env Env) offeredSessions(ctx context.Context, sel discover.SessionFilter) []discover.Session {
	c, err := env.call("__complete", &common{}, nil)
	if err == nil {
		sel.Since, err = c.since("__complete", "")
	}
	if err != nil {
		return nil
	}
	r, _ := c.world.List(ctx, sel)
	return r.Sessions
}

// argumentsOf names each of the sessions as an argument can: by its ID; where several of them have that ID by ID@DIR, with the
// session's directory, or where they share that with the agent's home. A session without an ID has no name.
func argumentsOf(sessions []discover.Session) []string {
	ids, places := map[string]int{}, map[string]int{}
	for i := range sessions {
		ids[sessions[i].ID]++
		places[sessions[i].ID+"@"+sessions[i].Dir]++
	}
	names := make([]string, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		switch place := s.ID + "@" + s.Dir; {
		case s.ID == "", ids[s.ID] == 1:
			names[i] = s.ID
		case places[place] == 1:
			names[i] = place
		default:
			names[i] = s.ID + "@" + s.Home
		}
	}
	return names
}

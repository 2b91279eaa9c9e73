package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/lock/hooks"
)

// offer is a word that would complete the command line, and what it is.
type offer struct{ word, about string }

// newComplete is what the completion scripts call. It never fails: a command line that cannot be completed has no
// completions.
func newComplete(env Env) *cli.Command {
	return &cli.Command{
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) == 0 {
				words = []string{""}
			}
			typed := words[len(words)-1]
			for _, o := range env.offers(c.Context, words) {
				if !strings.HasPrefix(o.word, typed) {
					continue
				}
				if _, err := fmt.Fprintf(env.Stdout, "%s\t%s\n", render.Clean(o.word), render.Clean(o.about)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// offers are the words that could stand where the last of the words stands.
func (env Env) offers(ctx context.Context, words []string) []offer {
	commands := newApp(env, verbs()).Commands
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
		return env.valueOffers(name, prefix)
	}
	switch {
	case strings.HasPrefix(words[len(words)-1], "-"):
		return flagOffers(verb)
	case verb.Name == "completion":
		return offersOf("", shells()...)
	case strings.HasPrefix(verb.ArgsUsage, "HOOK ") && argumentsBefore(verb, words) == 0:
		return offersOf("", hooks.Names()...)
	case verb.ArgsUsage == "WORKTREE…":
		return env.worktreeOffers(ctx)
	case verb.Name == "launch" && argumentsBefore(verb, words) == 0:
		return offersOf("", env.agentNames()...)
	case verb.ArgsUsage == "ID", verb.Name == "resume" && argumentsBefore(verb, words) == 0:
		return env.idOffers(ctx, true)
	case verb.ArgsUsage == "ID…": // what is done to live ones
		return env.idOffers(ctx, false)
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

// pendingFlag finds the flag whose value is being typed: --flag VALUE, --flag=VALUE, or --flag = VALUE as bash parts
// it. prefix is what stands before the value in the same word.
func pendingFlag(verb *cli.Command, words []string) (name, prefix string, ok bool) {
	last, before := words[len(words)-1], words[len(words)-2]
	if last == "=" {
		return strings.TrimLeft(before, "-"), "=", takesValue(verb, before)
	}
	if before == "=" && len(words) > 2 {
		before = words[len(words)-3]
	}
	if flag, _, joined := strings.Cut(last, "="); joined && takesValue(verb, flag) {
		return strings.TrimLeft(flag, "-"), flag + "=", true
	}
	return strings.TrimLeft(before, "-"), "", takesValue(verb, before)
}

func takesValue(verb *cli.Command, word string) bool {
	f := flagOf(verb, strings.TrimLeft(word, "-"))
	return strings.HasPrefix(word, "-") && f != nil && f.TakesValue()
}

func (env Env) valueOffers(flag, prefix string) []offer {
	switch flag {
	case "adapter":
		return offersOf(prefix, env.agentNames()...)
	case "status":
		return offersOf(prefix, statuses()...)
	case "until":
		return offersOf(prefix, untils()...)
	case "permissions":
		return offersOf(prefix, string(launch.Own), string(launch.Edit), string(launch.Full))
	case "since":
		return offersOf(prefix, "1h", "1d", "7d", "30d", "all")
	}
	return nil
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

func (env Env) idOffers(ctx context.Context, stopped bool) []offer {
	s, err := env.settings(true)
	if err != nil {
		return nil
	}
	since, err := config.ParseSince(string(s.Since), s.look.Now)
	if err != nil {
		return nil
	}
	r, err := env.world(s.Homes).List(ctx, discover.Select{All: stopped, Since: since, Limit: maxOffers})
	if err != nil {
		return nil
	}
	var out []offer
	for _, session := range r.Sessions {
		if session.ID != "" {
			about := fmt.Sprintf("%s %s: %s", session.Agent, session.Status, cmp.Or(session.Title, session.Prompt, session.Dir))
			out = append(out, offer{session.ID, about})
		}
	}
	return out
}

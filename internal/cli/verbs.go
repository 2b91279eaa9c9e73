package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// verb is a command by its names, and how it is made.
type verb struct {
	name    string
	make    func(Env) *cli.Command
	aliases []string
	// looks: it looks for sessions, and takes the flags of [users].
	looks bool
}

// called are the verbs that a command line, its verb first, is about: the one that it names, or all. To make them all, with
// their flags, would cost each call a twentieth of its start, and to have the library go through these more.
func called(all []verb, args []string) []verb {
	for i, v := range all {
		if len(args) > 0 && (v.name == args[0] || slices.Contains(v.aliases, args[0])) {
			return all[i : i+1]
		}
	}
	return all
}

// command makes it.
func (v verb) command(env Env) *cli.Command {
	if v.looks {
		env.users = &users{verb: v.name}
	}
	c := v.make(env)
	if v.looks {
		withUsers(c, env.users)
	}
	c.Name, c.Aliases = v.name, v.aliases
	prepare(c)
	return c
}

// withUsers adds the flags of [users] to a command, or to those below it.
func withUsers(c *cli.Command, u *users) {
	for _, below := range c.Subcommands {
		withUsers(below, u)
	}
	if len(c.Subcommands) == 0 {
		c.Flags = append(c.Flags, u.flags()...)
	}
}

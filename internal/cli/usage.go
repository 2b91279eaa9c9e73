package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// wrongUsage is something wrong in the command line.
func wrongUsage(message, hint string) *failure {
	return &failure{ending{exitUsage, "usage"}, message, hint}
}

// badUsage makes a usage error with the hint where to read more.
func badUsage(verb, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = plain(err)
		}
	}
	return wrongUsage(fmt.Sprintf(format, args...), program+" "+verb+" --help")
}

// verbOf is a command's name: of one below another, both.
func verbOf(c *cli.Command) string {
	return cmp.Or(strings.TrimPrefix(c.HelpName, program+" "), c.Name)
}

// unknown makes the usage error for a word that is none of the words known.
func unknown(what, word string, known []string) error {
	hint := "use one of: " + strings.Join(known, ", ")
	if near, ok := nearest(word, known); ok {
		hint = "did you mean " + near + "?"
	}
	return wrongUsage(fmt.Sprintf("unknown %s %q", what, word), hint)
}

// badFlag rewords what the flag parser says of a value.
func badFlag(c *cli.Command, err error) error {
	message := err.Error()
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			message = strings.ReplaceAll(message, "flag -"+name+":", "flag "+dashed(name)+":")
			if value, ok := strings.CutSuffix(message, " for -"+name+": parse error"); ok { // a boolean's
				message = value + " for flag " + dashed(name)
			}
		}
	}
	return badUsage(verbOf(c), "%s", strings.TrimSuffix(message, ": parse error"))
}

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// split takes a flag that may be repeated, or hold several words between commas, and checks each word.
func split(what string, values, known []string) ([]string, error) {
	var out []string
	for _, v := range values {
		for word := range strings.SplitSeq(v, ",") {
			if !slices.Contains(known, word) {
				return nil, unknown(what, word, known)
			}
			out = append(out, word)
		}
	}
	return out, nil
}

package cli

import (
	"slices"
	"strconv"
)

// elsewhere are words that other tools have for a command of ours, each with what to type instead.
func elsewhere() map[string]string {
	return map[string]string{
		"kill": "stop", "rm": "stop", "attach": "resume", "continue": "resume", "start": "launch", "run": "launch",
		"tail": "logs -f", "follow": "logs -f", "top": "list --watch", "watch": "list --watch",
	}
}

// isNumber reports whether a word is a positive number, as a pid is.
func isNumber(word string) bool {
	n, err := strconv.ParseInt(word, 10, 32)
	return err == nil && n > 0
}

// unknownCommand makes the usage error for a word that is no command.
func unknownCommand(word string, known []string) error {
	hint := program + " --help lists the commands"
	if other, ok := elsewhere()[word]; ok {
		hint = "did you mean " + program + " " + other + "?"
	} else if near, ok := nearest(word, known); ok {
		hint = "did you mean " + near + "?"
	}
	return wrongUsage("unknown command "+strconv.Quote(word), hint)
}

// unknownShort makes the usage error for a word of short flags, of which one is not known. One letter is as near to any other: only
// what other tools mean by it is suggested, where the command has that.
func unknownShort(verb, word string, known []string) error {
	if len(word) > 2 {
		return unknown("flag", word, known)
	}
	hint := program + " " + verb + " --help"
	if long := map[string]string{"-f": "--force", "-o": "--json"}[word]; slices.Contains(known, long) {
		hint = "did you mean " + long + "?"
	}
	return wrongUsage("unknown flag "+strconv.Quote(word), hint)
}

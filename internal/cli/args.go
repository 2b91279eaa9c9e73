package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// ArrangeArgs puts a command line into the order that the library reads: the verb and its subcommand, the
// flags, --, the arguments. --version is a verb too. Flags may stand anywhere before a --; short ones may be joined (-aq, -n5). An unknown flag or
// verb is an error here: the library would take it for an argument.
func ArrangeArgs(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 || isHelp(args[0]) {
		return []string{"--help"}, nil
	}
	if args[0] == "--version" {
		args = slices.Concat([]string{"version"}, args[1:])
	}
	verbs, rest, err := descend(app, args)
	if err != nil {
		return nil, err
	}
	verb := verbs[len(verbs)-1]
	if verb.SkipFlagParsing {
		return args, nil
	}
	names := convert(verbs, func(c *cli.Command) string { return c.Name })
	if len(verb.Subcommands) > 0 {
		return append(names, "--help"), nil
	}
	flags, rest, passed, err := permute(verb, rest)
	if err != nil {
		return nil, err
	}
	if passed != nil && strings.Contains(verb.ArgsUsage, "--") {
		passed = append([]string{"--"}, passed...) // it tells its arguments from what it passes on
	}
	rest = append(rest, passed...)
	if slices.Contains(flags, "--help") {
		rest = nil // the library would take them for help topics
		if verb.Name == "help" {
			rest = []string{verb.Name} // else it would show the help of the application
		}
	}
	return slices.Concat(names, flags, []string{"--"}, rest), nil
}

// flagFirst makes the usage error for a flag in the place of a command: either it must follow the command, or no command
// has it.
func flagFirst(commands []*cli.Command, flag string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	if slices.ContainsFunc(commands, func(c *cli.Command) bool { return FlagOf(c, name) != nil }) {
		return NewUsageError(flag+" must follow the command", Program+" COMMAND "+flag)
	}
	hint := Program + " --help lists the commands"
	if name == "v" || name == "V" {
		hint = "did you mean " + Program + " --version?"
	}
	return NewUsageError("unknown flag "+strconv.Quote(flag), hint)
}

// descend resolves the command and its subcommands that the words name. verbs is the path to the last one, rest what follows it.
// It stops where the words ask for help or end.
func descend(app *cli.App, words []string) (verbs []*cli.Command, rest []string, err error) {
	verb := app.Command(words[0])
	switch {
	case verb == nil && strings.HasPrefix(words[0], "-"):
		return nil, nil, flagFirst(app.Commands, words[0])
	case verb == nil:
		return nil, nil, unknownCommand(words[0], verbNames(app.Commands))
	}
	verbs, words = []*cli.Command{verb}, words[1:]
	for len(verb.Subcommands) > 0 && len(words) > 0 && !isHelp(words[0]) {
		below := verb.Command(words[0])
		switch {
		case below == nil && strings.HasPrefix(words[0], "-"):
			return nil, nil, NewUsageError(words[0]+" must follow the command", Program+" "+CommandName(verb)+" COMMAND "+words[0])
		case below == nil:
			return nil, nil, UnknownWord(verb.Name+" command", words[0], verbNames(verb.Subcommands))
		}
		verb, words = below, words[1:]
		verbs = append(verbs, verb)
	}
	return verbs, words, nil
}

// Leaves returns the visible commands that do something: those with others below them do not.
func Leaves(commands []*cli.Command) (leaves []*cli.Command) {
	for _, c := range commands {
		switch {
		case c.Hidden:
		case len(c.Subcommands) > 0:
			leaves = append(leaves, Leaves(c.Subcommands)...)
		default:
			leaves = append(leaves, c)
		}
	}
	return leaves
}

func isHelp(arg string) bool { return arg == "--help" || arg == "-h" }

func verbNames(commands []*cli.Command) []string {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	return names
}

// permute splits a verb's words into flags (each with its value in one word), arguments, and what follows a --; passed is
// nil if there is no --.
func permute(verb *cli.Command, words []string) (flags, args, passed []string, err error) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word == "--":
			return flags, args, words, nil
		case isHelp(word):
			flags = append(flags, "--help")
		case strings.HasPrefix(word, "-") && word != "-":
			var some []string
			some, words, err = takeFlags(verb, word, words)
			flags = append(flags, some...)
		default:
			args = append(args, word)
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return flags, args, nil, nil
}

// takeFlags parses one word of flags: a long flag, or joined short ones, of which the first that takes a value takes the
// rest of the word. A value that is not in the word is the next word. Each flag is returned as one word with its value, by its first name: the
// library refuses two names of one flag.
func takeFlags(verb *cli.Command, word string, next []string) (flags, rest []string, err error) {
	letters, long := strings.CutPrefix(word[1:], "-")
	for letters != "" {
		name, value := letters[:1], letters[1:]
		joined := value != ""
		if long {
			name, value, joined = strings.Cut(letters, "=")
		}
		if name == "agent" {
			name = "adapter" // what the JSON key is called
		}
		f := FlagOf(verb, name)
		optional, _ := f.(*OptionalValueFlag)
		switch {
		case f == nil && !long:
			return nil, nil, unknownFlag(verb, word)
		case f == nil && slices.Contains([]string{"host", "all-hosts"}, name):
			command := Program + " " + CommandName(verb)
			return nil, nil, NewUsageError(CommandName(verb)+" is for this machine only", "ssh HOST "+command+" runs it there; after host install: ssh HOST .local/bin/"+command)
		case f == nil || long && len(name) == 1:
			return nil, nil, unknownFlag(verb, "--"+name)
		case !f.TakesValue() && long:
			return []string{FlagText(f.Names()[0]) + strings.TrimPrefix(letters, name)}, next, nil
		case !f.TakesValue():
			flags, letters = append(flags, FlagText(f.Names()[0])), value
			continue
		case joined && !long:
			return append(flags, FlagText(f.Names()[0])+"="+strings.TrimPrefix(value, "=")), next, nil
		case joined:
		case optional != nil && (len(next) == 0 || strings.HasPrefix(next[0], "-") || optional.IsArgument(next[0])):
			value = optional.Default
		case len(next) > 0:
			value, next = next[0], next[1:]
		}
		if value == "" { // a variable that was not set, which would select everything
			return nil, nil, UsageError(CommandName(verb), "flag %s needs a value", FlagText(name))
		}
		return append(flags, FlagText(f.Names()[0])+"="+value), next, nil
	}
	return flags, next, nil
}

// FlagOf returns a command's flag of that name, without its dashes; nil if there is none.
func FlagOf(verb *cli.Command, name string) cli.DocGenerationFlag {
	for _, f := range verb.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return d
		}
	}
	return nil
}

// FlagNames returns a verb's flags as they are typed, with --help.
func FlagNames(verb *cli.Command) []string {
	names := []string{"--help"}
	for _, f := range verb.Flags {
		for _, n := range f.Names() {
			names = append(names, FlagText(n))
		}
	}
	return names
}

// SplitPassed splits the arguments at the --. rest, what is passed on, is nil if there is no --.
func SplitPassed(args []string) (own, rest []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// WithArgument is the action of a command that takes exactly one argument; what names it in the error.
func WithArgument(what string, run func(ctx context.Context, arg string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args, err := Arguments(c, 1, 1, what)
		if err != nil {
			return err
		}
		return run(c.Context, args[0])
	}
}

// Arguments returns the arguments of a command that takes from least to most of them; what names in the error those that it needs.
func Arguments(c *cli.Context, least, most int, what string) ([]string, error) {
	args := c.Args().Slice()
	verb := CommandName(c.Command)
	switch {
	case len(args) < least:
		return nil, UsageError(verb, "%s needs %s", verb, what)
	case len(args) > most:
		return nil, UsageError(verb, "%s does not take the argument %q", verb, args[most])
	}
	return args, nil
}

// maxWord bounds the words that suggestions are made for, in bytes.
const maxWord = 64

// maxDistance is the most edits between a word and the one that is suggested for it.
const maxDistance = 2

// closest finds the word that was probably meant: the only one that begins with the given word, or that has it after a dot. If there is none,
// it is the nearest one, at most maxDistance edits away, and at most a third of its length, dashes not counted. A known word with a few
// letters added ("listed") may be short.
func closest(word string, words []string) (string, bool) {
	best, cost := "", 0
	if word == "" || len(word) > maxWord {
		return "", false
	}
	begin := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, word) && !strings.HasSuffix(w, "."+word) })
	if len(begin) == 1 {
		return begin[0], true
	}
	for _, w := range words {
		longest := len(strings.TrimLeft(w, "-"))
		if !strings.HasPrefix(word, w) {
			longest /= 3
		}
		if d := distance(word, w); d <= min(max(1, longest), maxDistance) && (best == "" || d < cost) {
			best, cost = w, d
		}
	}
	return best, best != ""
}

// distance is the restricted Damerau-Levenshtein distance of two words.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// isNumber reports whether a word is a number that a pid may be: below 2²² on Linux, 99999 on macOS. An ID may begin with more digits.
func isNumber(word string) bool {
	n, err := strconv.ParseInt(word, 10, 23)
	return err == nil && n > 0
}

func unknownCommand(word string, known []string) error {
	hint := Program + " --help lists the commands"
	otherTools := map[string]string{ // what they call a command of this program
		"kill": "stop", "delete": "rm", "continue": "resume", "start": "launch", "run": "launch",
		"tail": "logs -f", "follow": "logs -f", "watch": "list --watch",
	}
	if other, ok := otherTools[word]; ok {
		hint = "did you mean " + Program + " " + other + "?"
	} else if near, ok := closest(word, known); ok {
		hint = "did you mean " + near + "?"
	}
	return NewUsageError("unknown command "+strconv.Quote(word), hint)
}

// unknownFlag makes the usage error for an unknown flag, or for a word of short ones with an unknown one. For a single letter, edit
// distance says nothing: only the meaning that it has in other tools is suggested, if the command has such a flag.
func unknownFlag(verb *cli.Command, word string) error {
	known, command := FlagNames(verb), Program+" "+CommandName(verb)
	hint := command + " --help"
	meant, near := map[string]string{"-f": "--force", "-o": "--json"}[word]
	if len(word) > 2 {
		meant, near = closest(word, known)
	}
	switch {
	case verb.ArgsUsage == "PATTERN" && !strings.HasPrefix(word, "--"):
		hint = "a pattern that begins with a dash: " + command + " -- " + strconv.Quote(word)
	case near && slices.Contains(known, meant):
		hint = "did you mean " + meant + "?"
	}
	return NewUsageError("unknown flag "+strconv.Quote(word), hint)
}

// WantsJSON reports whether the command line asks for JSON. Errors in the command line itself are printed as JSON then.
func WantsJSON(args []string) bool {
	i := slices.Index(args, "--format")
	return setsFlag(args, "--json") || i >= 0 && i+1 < len(args) && args[i+1] == formatJSON || slices.Contains(args, "--format="+formatJSON)
}

// setsFlag reports whether the command line sets a boolean flag.
func setsFlag(args []string, flag string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		name, value, joined := strings.Cut(arg, "=")
		yes, _ := strconv.ParseBool(value)
		return name == flag && (!joined || yes)
	})
}

// CommandName is a command's name, of a subcommand with that of its parent.
func CommandName(c *cli.Command) string {
	return cmp.Or(strings.TrimPrefix(c.HelpName, Program+" "), c.Name)
}

// UnknownWord makes the usage error for a word that is not among the known ones, with a suggestion.
func UnknownWord(what, word string, known []string) error {
	hint := "use one of: " + strings.Join(known, ", ")
	if near, ok := closest(word, known); ok {
		hint = "did you mean " + near + "?"
	}
	return NewUsageError(fmt.Sprintf("unknown %s %q", what, word), hint)
}

// badFlag rewords the flag parser's error.
func badFlag(c *cli.Command, err error) error {
	message := err.Error()
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			message = strings.ReplaceAll(message, "flag -"+name+":", "flag "+FlagText(name)+":")
			if value, ok := strings.CutSuffix(message, " for -"+name+": parse error"); ok { // a boolean's
				message = value + " for flag " + FlagText(name)
			}
		}
	}
	return UsageError(CommandName(c), "%s", strings.Replace(message, ": parse error", ": use a whole number", 1))
}

// FlagText is a flag's name with its dashes.
func FlagText(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// SplitWords splits the values of a repeatable flag at commas and checks each word; what names it in the error.
func SplitWords(what string, values, known []string) ([]string, error) {
	var out []string
	for _, v := range values {
		for word := range strings.SplitSeq(v, ",") {
			if !slices.Contains(known, word) {
				return nil, UnknownWord(what, word, known)
			}
			out = append(out, word)
		}
	}
	return out, nil
}

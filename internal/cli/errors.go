package cli

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// failed is the name of an error that has no other one.
const failed = "failed"

// ErrorText is the text of an error without the names of system calls that Go's errors begin with ("lstat /x: no such file
// or directory").
func ErrorText(err error) string {
	text := err.Error()
	for _, e := range causes(err) {
		if short := withoutSyscall(e); short != "" {
			text = strings.ReplaceAll(text, e.Error(), short)
		}
	}
	return text
}

func causes(err error) []error {
	out := []error{err}
	switch e := err.(type) { //nolint:errorlint // it is walked by hand, each error by itself
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			out = append(out, causes(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			out = append(out, causes(inner)...)
		}
	}
	return out
}

// withoutSyscall returns the text of a system call's error without the call, "" for any other error.
func withoutSyscall(err error) string {
	switch e := err.(type) { //nolint:errorlint // what it wraps has its turn
	case *fs.PathError:
		return e.Path + ": " + e.Err.Error()
	case *os.LinkError:
		return e.New + ": " + e.Err.Error()
	case *os.SyscallError:
		return e.Err.Error()
	}
	return ""
}

// NewUsageError makes an error in the command line, with what to do about it.
func NewUsageError(message, hint string) *Failure {
	return &Failure{errorNamed("usage"), message, hint, nil}
}

// UsageError makes a usage error whose hint is the help of the verb. An error among args is printed by [ErrorText].
func UsageError(verb, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = ErrorText(err)
		}
	}
	return NewUsageError(fmt.Sprintf(format, args...), Program+" "+verb+" --help")
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
	return UsageError(CommandName(c), "%s", strings.TrimSuffix(message, ": parse error"))
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

package cmdutil

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// ErrorText is the text of an error for people: without the names of the system calls that Go's errors begin with ("lstat /x: no such
// file or directory").
func ErrorText(err error) string {
	text := err.Error()
	for _, e := range causes(err) {
		if short := withoutSyscall(e); short != "" {
			text = strings.ReplaceAll(text, e.Error(), short)
		}
	}
	return text
}

// causes are an error and all that it wraps.
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

// withoutSyscall is the text of an error of a system call without the call, "" of any other error.
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

// NewUsageError is something wrong in the command line.
func NewUsageError(message, hint string) *Failure {
	return &Failure{status{ExitUsage, "usage"}, message, hint}
}

// UsageError makes a usage error with the hint where to read more.
func UsageError(verb, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = ErrorText(err)
		}
	}
	return NewUsageError(fmt.Sprintf(format, args...), Program+" "+verb+" --help")
}

// CommandName is a command's name: of one below another, both.
func CommandName(c *cli.Command) string {
	return cmp.Or(strings.TrimPrefix(c.HelpName, Program+" "), c.Name)
}

// UnknownWord makes the usage error for a word that is none of the words known.
func UnknownWord(what, word string, known []string) error {
	hint := "use one of: " + strings.Join(known, ", ")
	if near, ok := closest(word, known); ok {
		hint = "did you mean " + near + "?"
	}
	return NewUsageError(fmt.Sprintf("unknown %s %q", what, word), hint)
}

// badFlag rewords what the flag parser says of a value.
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

// FlagText is a flag's name as it is typed.
func FlagText(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// SplitWords takes a flag that may be repeated, or hold several words between commas, and checks each word.
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

package discover

import (
	"slices"
	"strings"
)

// Syntax says how a program reads its command line. Options are separated by spaces.
type Syntax struct {
	// Values take the next word as their value, Lists all words up to the next option.
	Values, Lists string
	// Final ends the options: what follows may be another program's command line.
	Final string
	// NoDashValues: a word that begins with a dash is no value.
	NoDashValues bool
}

// Arguments is a parsed command line.
type Arguments struct {
	// Options are those that are given, with their last values.
	Options map[string]string
	// Words are neither options nor values, Rest is what follows "--".
	Words, Rest []string
}

// Parse parses the arguments after the program's name.
func (s Syntax) Parse(args []string) Arguments {
	a := Arguments{Options: map[string]string{}}
	is := func(set, option string) bool { return slices.Contains(strings.Fields(set), option) }
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			a.Rest = args
			break
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			a.Words = append(a.Words, word)
			continue
		}
		option, value, joined := strings.Cut(word, "=")
		if !joined && is(s.Values, option) && len(args) > 0 && !(s.NoDashValues && strings.HasPrefix(args[0], "-")) {
			value, args = args[0], args[1:]
		}
		for is(s.Lists, option) && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
		if a.Options[option] = value; is(s.Final, option) {
			break
		}
	}
	return a
}

// Has reports whether one of the options is given.
func (a Arguments) Has(options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { _, ok := a.Options[o]; return ok })
}

// Value returns the value of the first of the options that has one.
func (a Arguments) Value(options ...string) string {
	for _, o := range options {
		if v := a.Options[o]; v != "" {
			return v
		}
	}
	return ""
}

package opencode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// damageError is what a reading of a database could not read, as an error: the rest was read.
type damageError struct {
	unreadable []string // sessions that are stored
	partial    []string // sessions of which a message or a part of one could not be read
	cause      error    // the first of all
}

// Error implements error.
func (l *damageError) Error() string {
	var text strings.Builder
	for _, part := range []struct {
		ids  []string
		what string
	}{{l.unreadable, "cannot be read"}, {l.partial, "can be read in part only"}} {
		slices.Sort(part.ids)
		if ids := slices.Compact(part.ids); len(ids) > 0 {
			text.WriteString(enumerate(ids) + " " + part.what + ": ")
		}
	}
	return text.String() + l.cause.Error()
}

// Unwrap returns the first cause.
func (l *damageError) Unwrap() error { return l.cause }

// isDamage reports whether an error of [readDatabase] leaves valid what was read.
func isDamage(err error) bool {
	_, ok := errors.AsType[*damageError](err)
	return ok
}

// enumerate names the first ids, and says how many more there are.
func enumerate(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

package opencode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// damageError reports what could not be read in a database. The rest was read.
type damageError struct {
	unreadable []string // the sessions that could not be read
	partial    []string // the sessions of which a message or a part could not be read
	cause      error    // the first error
}

// Error implements error.
func (e *damageError) Error() string {
	var text strings.Builder
	for _, part := range []struct {
		ids  []string
		what string
	}{{e.unreadable, "cannot be read"}, {e.partial, "can be read in part only"}} {
		slices.Sort(part.ids)
		if ids := slices.Compact(part.ids); len(ids) > 0 {
			text.WriteString(enumerate(ids) + " " + part.what + ": ")
		}
	}
	return text.String() + e.cause.Error()
}

// Unwrap returns the first cause.
func (e *damageError) Unwrap() error { return e.cause }

// isDamage reports whether the results of a [readDatabase] that returned this error are valid.
func isDamage(err error) bool {
	_, ok := errors.AsType[*damageError](err)
	return ok
}

// enumerate lists the first IDs and says how many more there are.
func enumerate(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

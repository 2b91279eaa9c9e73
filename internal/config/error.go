package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Error is something wrong in the configuration file.
type Error struct {
	// File, Line and Column say where, counted from 1: of the value, or of the malformed text.
	File         string
	Line, Column int
	// Key is the key it is about; "" for malformed text.
	Key string
	// Problem says what is wrong.
	Problem string
	// Unreadable: the file is not there, or cannot be read, so that nothing is known to be wrong in it.
	Unreadable bool
}

func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Key == "" {
		return where + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s: %s", where, e.Key, e.Problem)
}

// newError says what is wrong with the value of a key, and where; the file is yet to be named. With no key it is the text.
func newError(key string, err error) *Error {
	out := &Error{Key: key, Problem: err.Error()}
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		out.Line, out.Column, out.Problem = p.Position.Line, p.Position.Col, p.Message
	}
	out.Problem = strings.TrimPrefix(out.Problem, "toml: ")
	return out
}

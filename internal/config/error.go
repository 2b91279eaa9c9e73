package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Error is an error in the configuration file.
type Error struct {
	// File, Line and Column are the position of the value, or of the malformed text. Line and Column count from 1.
	File         string
	Line, Column int
	// Key is the key with the error; "" for malformed text.
	Key string
	// Problem is the message.
	Problem string
	// Unreadable: the file does not exist or cannot be read. Its content may be valid.
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

// newError returns the error about a key, with its position if err has one. An empty key is for malformed text.
// The caller sets File.
func newError(key string, err error) *Error {
	out := &Error{Key: key, Problem: err.Error()}
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		out.Line, out.Column, out.Problem = p.Position.Line, p.Position.Col, p.Message
	}
	out.Problem = strings.TrimPrefix(out.Problem, "toml: ")
	return out
}

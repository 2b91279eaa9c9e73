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
	// Unread: the file is not there, or cannot be read, so that nothing is known to be wrong in it.
	Unread bool
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

// keyError ties an error to the key it is about, until the file is known.
type keyError struct {
	key string
	err error
}

func (e *keyError) Error() string { return e.key + ": " + e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

// keyed names the key, unless a deeper one is named already.
func keyed(key string, err error) error {
	if _, named := errors.AsType[*keyError](err); named {
		return err
	}
	return &keyError{key, err}
}

// locate says where in the file an error of decode is.
func locate(file string, err error) *Error {
	out := &Error{File: file, Problem: err.Error()}
	if k, ok := errors.AsType[*keyError](err); ok {
		out.Key, out.Problem = k.key, k.err.Error()
	}
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		out.Line, out.Column, out.Problem = p.Position.Line, p.Position.Col, p.Message
	}
	out.Problem = strings.TrimPrefix(out.Problem, "toml: ")
	return out
}

// unknownKey stands where a key has no meaning: decoding into it fails, at the key's place in the file.
type unknownKey struct {
	name  string
	known []string
}

// UnmarshalTOML implements [toml.Unmarshaler].
func (u *unknownKey) UnmarshalTOML(any) error {
	return fmt.Errorf("no such key; valid keys: %s", strings.Join(u.known, ", "))
}

// notATable stands where the table [homes] should be.
type notATable struct{}

// UnmarshalTOML implements [toml.Unmarshaler].
func (*notATable) UnmarshalTOML(any) error {
	return errors.New(`want a table [homes] with one list an agent, as in codex = ["/srv/codex"]`)
}

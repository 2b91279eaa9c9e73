package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"agentctl/discover/storage"
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
func newError(key string, err error) *Error {
	out := &Error{Key: key, Problem: err.Error()}
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		out.Line, out.Column, out.Problem = p.Position.Line, p.Position.Col, p.Message
	}
	out.Problem = strings.TrimPrefix(out.Problem, "toml: ")
	return out
}

// table is a TOML table of which nothing is decoded yet.
type table = map[string]toml.Primitive

// load reads a file, or stdin if that is not nil, and decodes it. Every error is an [*Error].
func load(path string, stdin io.Reader, decode func(*toml.MetaData, table) *Error) ([]byte, error) {
	const sizeLimit = 1 << 20 // bytes; real files have a few hundred
	var text []byte
	var err error
	if stdin != nil {
		text, err = storage.ReadStream(context.Background(), sizeLimit, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
	} else {
		text, err = storage.ReadFile(path, sizeLimit) // it follows links, since people keep their configuration in other directories
	}
	if err != nil {
		e := &Error{File: path, Unreadable: true, Problem: "cannot be read: " + err.Error()}
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			e.Problem = "cannot be read: " + p.Err.Error()
		}
		if _, missing := os.Lstat(path); missing == nil && errors.Is(err, fs.ErrNotExist) {
			e.Problem = "cannot be read: a symbolic link is broken"
		}
		return nil, e
	}
	var doc table
	md, err := toml.Decode(string(text), &doc)
	var failed *Error
	if err != nil {
		failed = newError("", err)
	} else {
		failed = decode(&md, doc)
	}
	if failed != nil {
		failed.File = path
		return text, failed
	}
	return text, nil
}

// decodeTable decodes a table key by key, so that an error can name the position of its key. A key that is not in
// keys is an error.
func decodeTable(md *toml.MetaData, prefix string, t table, keys map[string]any) *Error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		to, ok := keys[name]
		if !ok {
			to = reject("no such key; valid keys: " + strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		}
		if err := md.PrimitiveDecode(t[name], to); err != nil {
			return newError(prefix+name, err)
		}
	}
	return nil
}

// decoder decodes the value of a key. The TOML library adds the position of the value to an error of a decoder,
// but not to its own errors about wrong types.
type decoder func(value any) error

func (d decoder) UnmarshalTOML(value any) error { return d(value) }

// reject returns a decoder that fails with a message.
func reject(text string) decoder {
	return func(any) error { return errors.New(text) }
}

// tableValue decodes the table with this name; any other value is an error.
func tableValue(md *toml.MetaData, name string, to *table, wanted string) any {
	if kind := md.Type(name); kind != "Hash" && kind != "" { // dotted keys, as in homes.codex = […], have the type ""
		return reject(wanted)
	}
	return to
}

// boolValue decodes a boolean.
func boolValue(to *bool) decoder {
	return func(value any) (err error) {
		var ok bool
		if *to, ok = value.(bool); !ok {
			err = fmt.Errorf("%s must be true or false", quote(value))
		}
		return err
	}
}

// stringValue decodes a string that is not empty.
func stringValue(to *string) decoder {
	return func(value any) error {
		*to, _ = value.(string)
		if *to == "" {
			return fmt.Errorf("%s is not text", quote(value))
		}
		return nil
	}
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

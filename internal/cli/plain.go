package cli

import (
	"io/fs"
	"os"
	"strings"
)

// plain is the text of an error for people: without the names of the system calls that Go's errors begin with ("lstat /x: no such
// file or directory").
func plain(err error) string {
	text := err.Error()
	for _, e := range causes(err) {
		if short := withoutCall(e); short != "" {
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

// withoutCall is the text of an error of a system call without the call, "" of any other error.
func withoutCall(err error) string {
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

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"agentctl/discover/native/fsread"
)

// sizeLimit is the maximum size of a configuration file in bytes; real files have a few hundred.
const sizeLimit = 1 << 20

// readFile returns the content of a file. It opens regular files only, since a read from a FIFO or a terminal may
// never end. It follows symbolic links, since people keep their configuration in other directories.
func readFile(path string) ([]byte, error) {
	text, err := fsread.ReadFile(path, sizeLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil, errors.New("a symbolic link is broken")
		}
	case errors.Is(err, fsread.ErrTooLarge):
		return nil, fmt.Errorf("larger than %d bytes", sizeLimit)
	}
	return text, err
}

// load reads and decodes a file.
func load(path string, decode func(text string) *Error) error {
	text, err := readFile(path)
	if err != nil {
		return readError(path, err)
	}
	return named(path, decode(string(text)))
}

// named sets the file of an error; nil if there is none.
func named(path string, err *Error) error {
	if err == nil {
		return nil
	}
	err.File = path
	return err
}

// readError is the error for a file that cannot be read.
func readError(path string, err error) *Error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &Error{File: path, Problem: "cannot be read: " + err.Error(), Unreadable: true}
}

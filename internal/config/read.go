package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"agentctl/discover/native/fsread"
)

// sizeLimit is the most bytes a configuration file may have; real ones have some hundred.
const sizeLimit = 1 << 20

// readFile returns the content of a file. What is not a regular file is not opened: a FIFO or a terminal would never end. A
// link is followed, since people keep their configuration elsewhere.
func readFile(path string) ([]byte, error) {
	text, err := fsread.File(path, sizeLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, there := os.Lstat(path); there == nil {
			return nil, errors.New("a symbolic link is broken")
		}
	case errors.Is(err, fsread.ErrTooLarge):
		return nil, fmt.Errorf("larger than %d bytes", sizeLimit)
	}
	return text, err
}

// readError is the error of a file that is there and cannot be read.
func readError(path string, err error) *Error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &Error{File: path, Problem: "cannot be read: " + err.Error(), Unreadable: true}
}

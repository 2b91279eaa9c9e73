package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// sizeLimit is the most bytes a configuration file may have; real ones have some hundred.
const sizeLimit = 1 << 20

// read returns the content of a file. What is no regular file is not read: a FIFO or a terminal would never end. A
// link is followed, since people keep their configuration elsewhere.
func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Lstat(path); there == nil {
			return nil, errors.New("a link leads nowhere")
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, sizeLimit+1))
	if len(text) > sizeLimit {
		return nil, fmt.Errorf("larger than %d bytes", sizeLimit)
	}
	return text, err
}

// unreadable is the error of a file that is there and cannot be read.
func unreadable(path string, err error) *Error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &Error{File: path, Problem: "cannot be read: " + err.Error()}
}

package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
)

// maxArguments bounds what is read of a command line or an environment, in bytes. Linux grants both together 6 MiB
// (execve(2)), macOS 1 MiB (ARG_MAX); more than that is not what the process was started with.
const maxArguments = 6 << 20

// selectEnv returns the named variables of an environment of NUL-terminated "KEY=value" strings. As for getenv(3), the
// first of two counts. The rest is wiped: it holds secrets.
func selectEnv(environ io.Reader, keys []string) (map[string]string, error) {
	vars := envScanner{from: io.LimitReader(environ, maxArguments), buf: make([]byte, usualEnviron)}
	defer vars.wipe()
	found := map[string]string{}
	for {
		variable, err := vars.next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		key, value, ok := bytes.Cut(variable, []byte{'='})
		if !ok || !slices.Contains(keys, string(key)) {
			continue
		}
		if _, twice := found[string(key)]; !twice {
			found[string(key)] = string(value)
		}
	}
}

// usualEnviron is what most environments fit in, in bytes.
const usualEnviron = 8 << 10

var errTooLong = errors.New("a variable is longer than the system grants")

// envScanner is what was read of NUL-terminated strings.
type envScanner struct {
	from io.Reader
	buf  []byte
	rest []byte // of buf: what was not taken so far
	eof  bool   // there is no more to read
}

// next takes a string, which is good until the next call; the last one may lack its NUL. The error is io.EOF at the end.
func (w *envScanner) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(w.rest, 0); i >= 0 {
			s := w.rest[:i]
			w.rest = w.rest[i+1:]
			return s, nil
		}
		if w.eof && len(w.rest) == 0 {
			return nil, io.EOF
		}
		if w.eof {
			s := w.rest
			w.rest = nil
			return s, nil
		}
		if err := w.read(); err != nil {
			return nil, err
		}
	}
}

// read adds to what is left, in a larger window if that is full of one string.
func (w *envScanner) read() error {
	if longest := 32 * os.Getpagesize(); len(w.rest) > longest { // of a single string, execve(2)
		return errTooLong
	}
	to := w.buf
	if len(w.rest) == len(w.buf) {
		to = make([]byte, 2*len(w.buf))
		defer clear(w.buf)
	}
	w.buf, w.rest = to, to[:copy(to, w.rest)]
	n, err := w.from.Read(w.buf[len(w.rest):])
	w.rest = w.buf[:len(w.rest)+n]
	if w.eof = errors.Is(err, io.EOF); w.eof {
		return nil
	}
	return err
}

func (w *envScanner) wipe() { clear(w.buf) }

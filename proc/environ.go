package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
)

// maxArguments is the most bytes that are read of a command line or an environment. Linux allows 6 MiB for both together
// (execve(2)), macOS 1 MiB (ARG_MAX). What is longer is not what the process was started with.
const maxArguments = 6 << 20

// selectEnv returns the named variables of an environment, which is NUL-terminated "KEY=value" strings. The first of two
// equal keys counts, as for getenv(3). The memory that held the rest is cleared, since it holds secrets.
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

// usualEnviron is the size in bytes that most environments fit in.
const usualEnviron = 8 << 10

var errTooLong = errors.New("a variable is longer than the system grants")

// envScanner reads NUL-terminated strings.
type envScanner struct {
	from io.Reader
	buf  []byte
	rest []byte // of buf: not returned so far
	eof  bool   // from has no more
}

// next returns the next string, which is valid until the next call. The last string may lack its NUL. The error at the
// end is io.EOF.
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

// read reads more, into a larger buffer if one string fills the buffer.
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

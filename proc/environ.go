package proc

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
)

// maxArguments bounds what is read of a command line or an environment, in bytes. Linux grants both together 6 MiB
// (execve(2)), macOS 1 MiB (ARG_MAX); more than that is not what the process was started with.
const maxArguments = 6 << 20

// pick returns the named variables of an environment of NUL-terminated "KEY=value" strings. As for getenv(3), the
// first of two counts. The rest passes through one buffer that is wiped at the end: it holds secrets.
func pick(environ io.Reader, keys []string) (map[string]string, error) {
	longest := 32 * os.Getpagesize() // of a single string, execve(2)
	buf := make([]byte, longest+1)
	defer clear(buf)
	vars := bufio.NewScanner(io.LimitReader(environ, maxArguments))
	vars.Buffer(buf, len(buf)) // never grows, so there is no copy to wipe
	vars.Split(splitNUL)
	found := map[string]string{}
	for vars.Scan() {
		key, value, ok := bytes.Cut(vars.Bytes(), []byte{'='})
		if !ok || !slices.Contains(keys, string(key)) {
			continue
		}
		if _, twice := found[string(key)]; !twice {
			found[string(key)] = string(value)
		}
	}
	if err := vars.Err(); err != nil {
		return nil, err
	}
	return found, nil
}

// splitNUL is a bufio.SplitFunc for NUL-terminated strings; the last one may lack its NUL.
func splitNUL(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

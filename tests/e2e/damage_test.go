package e2e_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// escaped is a text with the escapes of Go, in which quotation marks stand for themselves.
func escaped(text string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		return text
	}
	return out
}

// damaging are the commands that make bad input.
func fileCommands() map[string]command {
	return map[string]command{
		// fill FILE COUNT TEXT: FILE holds nothing but that so many times.
		"fill": withArgs(3, func(ts *testscript.TestScript, args []string) {
			count, err := strconv.Atoi(args[1])
			ts.Check(err)
			path := ts.MkAbs(args[0])
			ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
			ts.Check(os.WriteFile(path, []byte(strings.Repeat(escaped(strings.Join(args[2:], " ")), count)), 0o600))
		}),
		// resize FILE BYTES cuts a file off, or makes it longer by a hole.
		"resize": withArgs(2, func(ts *testscript.TestScript, args []string) {
			size, err := strconv.ParseInt(args[1], 10, 64)
			ts.Check(err)
			ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
		}),
		// exits-unprivileged CODE COMMAND…: as exits, but what a file's mode forbids is forbidden to the superuser too.
		"exits-unprivileged": withArgs(2, func(ts *testscript.TestScript, args []string) {
			code := make(chan error)
			go func() {
				runtime.LockOSThread() // the thread ends with its goroutine, and what it gave up with it
				err := dropPrivileges()
				if err == nil {
					err = exits(ts, args[0], args[1:])
				}
				code <- err
			}()
			ts.Check(<-code)
		}),
	}
}

package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/creack/pty"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"agentctl/internal/render"
	"agentctl/tests/schema"
)

type command = func(ts *testscript.TestScript, neg bool, args []string)

// scriptCommands are the commands of scripts beside those of testscript.
func scriptCommands() map[string]command {
	all := map[string]command{
		// start NAME PROGRAM ARGS…: $NAME is its pid.
		"start": withArgs(2, func(ts *testscript.TestScript, args []string) {
			path, err := lookPath(ts, args[1])
			ts.Check(err)
			startFake(ts, args[0], &exec.Cmd{Path: path, Args: args[1:]})
		}),
		// start-as NAME PROGRAM ARGV…: as start, but with a command line that is not its own.
		"start-as": withArgs(3, func(ts *testscript.TestScript, args []string) {
			path, err := lookPath(ts, args[1])
			ts.Check(err)
			startFake(ts, args[0], &exec.Cmd{Path: path, Args: args[2:]})
		}),
		// tell NAME ORDER…
		"tell": withArgs(2, func(ts *testscript.TestScript, args []string) {
			fakesOf(ts).tell(ts, args[0], strings.Join(args[1:], " "))
		}),
		// end NAME SIGNAL: it is a zombie afterwards.
		"end": withArgs(2, func(ts *testscript.TestScript, args []string) {
			a := fakesOf(ts).find(ts, args[0])
			a.end(unix.SignalNum("SIG" + args[1]))
			ts.Check(a.dead())
		}),
		// exits CODE COMMAND…: as exec, with that very exit code.
		"exits": withArgs(2, func(ts *testscript.TestScript, args []string) {
			ts.Check(exits(ts, args[0], args[1:]))
		}),
		// tty COLUMNS FILE COMMAND…: runs it in a terminal; FILE has what the terminal got.
		"tty": withArgs(3, func(ts *testscript.TestScript, args []string) {
			columns, err := strconv.ParseUint(args[0], 10, 16)
			ts.Check(err)
			path, err := lookPath(ts, args[2])
			ts.Check(err)
			cmd := &exec.Cmd{Path: path, Args: args[2:], Dir: ts.MkAbs("."), Env: environ(ts)}
			terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 25, Cols: uint16(columns)})
			ts.Check(err)
			got, _ := io.ReadAll(terminal) // ends with EIO once the program has let go of it
			ts.Check(cmd.Wait())
			ts.Check(terminal.Close())
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), 0o600))
		}),
		"unpacks":  withArgs(1, unpacks),
		"installs": withArgs(1, installs),
		// narrow COLUMNS FILE: no line of it is wider on a terminal. What is cleared again, such as the progress of a slow machine, is not on it.
		"narrow": withArgs(2, func(ts *testscript.TestScript, args []string) {
			columns, err := strconv.Atoi(args[0])
			ts.Check(err)
			const cleared = "\x1b[K"
			for line := range strings.Lines(ts.ReadFile(args[1])) {
				if i := strings.LastIndex(line, cleared); i >= 0 {
					line = line[i+len(cleared):]
				}
				if n := (displaywidth.Options{ControlSequences: true}).String(strings.TrimSuffix(line, "\n")); n > columns {
					ts.Fatalf("%q is %d wide", line, n)
				}
			}
		}),
		// reap NAME: a zombie is gone for good.
		"reap": withArgs(1, func(ts *testscript.TestScript, args []string) {
			_ = fakesOf(ts).find(ts, args[0]).cmd.Wait() // however it ended
			delete(fakesOf(ts).byName, args[0])
		}),
		// alive NAME: it takes orders.
		"alive": withArgs(1, func(ts *testscript.TestScript, args []string) { fakesOf(ts).tell(ts, args[0], "nothing") }),
		// set-unquoted NAME TEXT sets a variable to a Go string.
		"set-unquoted": withArgs(2, func(ts *testscript.TestScript, args []string) {
			ts.Setenv(args[0], unquoted(strings.Join(args[1:], " ")))
		}),
		// move FROM TO renames a file or directory.
		"move": withArgs(2, func(ts *testscript.TestScript, args []string) {
			ts.Check(os.Rename(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
		}),
		// bind DIR NAME: the directory has this name too, until the script ends.
		"bind": withArgs(2, func(ts *testscript.TestScript, args []string) {
			name := ts.MkAbs(args[1])
			ts.Check(os.Mkdir(name, 0o755))
			ts.Check(bind(ts.MkAbs(args[0]), name))
			ts.Defer(func() { ts.Check(unbind(name)) })
		}),
		// fifo PATH
		"fifo": withArgs(1, func(ts *testscript.TestScript, args []string) { ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600)) }),
		// aged DURATION DIR: every file below DIR is as if last written that long ago.
		"aged": withArgs(2, func(ts *testscript.TestScript, args []string) {
			d, err := time.ParseDuration(args[0])
			ts.Check(err)
			ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Chtimes(path, time.Time{}, time.Now().Add(-d)))
			}))
		}),
		// substitute PATH fills the script's variables into a file.
		"substitute": withArgs(1, func(ts *testscript.TestScript, args []string) {
			text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
		}),
		// snapshot NAME DIR, unchanged NAME DIR: nothing below DIR was made, removed or changed.
		"snapshot": withArgs(2, func(ts *testscript.TestScript, args []string) {
			ts.Setenv("snapshot_"+args[0], digest(ts, args[1]))
		}),
		"unchanged": withArgs(2, func(ts *testscript.TestScript, args []string) {
			if ts.Getenv("snapshot_"+args[0]) != digest(ts, args[1]) {
				ts.Fatalf("%s has changed", args[1])
			}
		}),
		// valid PART FILE: JSON that the schema's part takes.
		"valid": withArgs(2, func(ts *testscript.TestScript, args []string) { ts.Check(schema.Check(args[0], ts.ReadFile(args[1]))) }),
		// prometheus FILE: metrics that Prometheus's parser takes.
		"prometheus": withArgs(1, func(ts *testscript.TestScript, args []string) {
			parser := expfmt.NewTextParser(model.LegacyValidation)
			families, err := parser.TextToMetricFamilies(strings.NewReader(ts.ReadFile(args[0])))
			ts.Check(err)
			if len(families) == 0 {
				ts.Fatalf("%s has no metrics", args[0])
			}
		}),
		// no-control-sequences FILE: nothing in it acts on a terminal.
		"no-control-sequences": withArgs(1, func(ts *testscript.TestScript, args []string) {
			for line := range strings.Lines(ts.ReadFile(args[0])) {
				line = strings.TrimLeft(strings.TrimRight(line, "\n"), "\t") // HTML and CSS are indented
				if strings.Trim(line, " ") != strings.Trim(spaced(line), " ") {
					ts.Fatalf("%q", line)
				}
			}
		}),
	}
	maps.Copy(all, fileCommands())
	maps.Copy(all, launchCommands())
	maps.Copy(all, eventCommands())
	maps.Copy(all, screenCommands())
	maps.Copy(all, pictureCommands())
	maps.Copy(all, hostCommands())
	return all
}

// exits runs a program; it is an error if it does not end with the code.
func exits(ts *testscript.TestScript, code string, args []string) error {
	got := 0
	err := ts.Exec(args[0], args[1:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		return err
	}
	if strconv.Itoa(got) != code {
		return fmt.Errorf("exit code %d, want %s", got, code)
	}
	return nil
}

// want checks the number of arguments; none of our commands can be negated.
func withArgs(n int, f func(*testscript.TestScript, []string)) command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < n {
			ts.Fatalf("it takes %d arguments and no !", n)
		}
		f(ts, args)
	}
}

func startFake(ts *testscript.TestScript, name string, cmd *exec.Cmd) {
	fakesOf(ts).start(ts, name, cmd)
	ts.Setenv(name, fmt.Sprint(cmd.Process.Pid))
}

// lookPath finds a program along the script's PATH.
func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(path) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
	}
	return "", &fs.PathError{Op: "find", Path: name, Err: fs.ErrNotExist}
}

// digest stands for all names, kinds, sizes, times and contents below a directory.
func digest(ts *testscript.TestScript, dir string) string {
	sum := sha256.New()
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if !info.Mode().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		sum.Write(text)
		return err
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// spaced is the line as it may be: cleaned, but with the blanks that lay out a table.
func spaced(line string) string {
	var out []string
	for cell := range strings.SplitSeq(line, " ") {
		out = append(out, render.Sanitize(cell))
	}
	return strings.Join(out, " ")
}

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

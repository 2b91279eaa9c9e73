package launch

import (
	"io"
	"os"

	"agentctl/discover/native/fsread"
)

// Output is what a process has printed: the beginning and the end of each stream. Most streams are short enough to be complete.
type Output struct {
	Stdout, Stderr []byte
}

// A stream that is longer than both limits together lacks its middle.
const (
	headLimit = 64 << 10
	tailLimit = 1 << 20
)

// outputFile is a file that a process writes to, and the offset at which the process began.
type outputFile struct {
	file   *os.File
	offset int64
}

// openOutput makes the files that the process writes to. Both streams go to the end of the named file, in the order they
// are written.
func (x *Execution) openOutput(path string) (err error) {
	if path != "" {
		if x.stdout.file, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return err
		}
		x.stdout.offset, err = x.stdout.file.Seek(0, io.SeekEnd)
		x.stderr = x.stdout
		return err
	}
	if x.stdout.file, err = AnonymousFile("stdout"); err != nil {
		return err
	}
	if x.stderr.file, err = AnonymousFile("stderr"); err != nil {
		x.stdout.close()
	}
	return err
}

func (c outputFile) close() {
	if c.file != nil {
		_ = c.file.Close() // nothing was written here; one file of both streams is closed twice
	}
}

// readOutput returns what the process has printed so far. What cannot be read is missing.
func (x *Execution) readOutput() Output {
	o := Output{Stdout: x.stdout.read()}
	if o.Stderr = o.Stdout; x.stderr.file != x.stdout.file {
		o.Stderr = x.stderr.read()
	}
	return o
}

func (c outputFile) read() []byte {
	info, err := c.file.Stat()
	if err != nil {
		return nil
	}
	size := info.Size() - c.offset
	if size <= headLimit+tailLimit {
		return c.section(0, size)
	}
	return append(c.section(0, headLimit), c.section(size-tailLimit, tailLimit)...)
}

func (c outputFile) section(from, size int64) []byte {
	text, _ := fsread.ReadAll(io.NewSectionReader(c.file, c.offset+from, max(size, 0)), headLimit+tailLimit)
	return text
}

package launch

import (
	"io"
	"os"

	"agentctl/discover/native/fsread"
)

// Output is what a process printed: the beginning and the end of each stream, which of most is the whole.
type Output struct {
	Stdout, Stderr []byte
}

// Of a stream longer than both together, what is between is left out.
const (
	headKept = 64 << 10
	tailKept = 1 << 20
)

// capture is where a process writes to: a file, and where in it the process began.
type capture struct {
	file *os.File
	from int64
}

// openOutput makes the files that the child writes to. Both streams go to the end of the named file, in the order they
// are written.
func (c *Child) openOutput(path string) (err error) {
	if path != "" {
		if c.stdout.file, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return err
		}
		c.stdout.from, err = c.stdout.file.Seek(0, io.SeekEnd)
		c.stderr = c.stdout
		return err
	}
	if c.stdout.file, err = Unnamed("stdout"); err != nil {
		return err
	}
	if c.stderr.file, err = Unnamed("stderr"); err != nil {
		c.stdout.close()
	}
	return err
}

func (c capture) close() {
	if c.file != nil {
		_ = c.file.Close() // read only; a second time for a file of both streams
	}
}

// output is what the child has printed so far. What cannot be read is missing.
func (c *Child) output() Output {
	o := Output{Stdout: c.stdout.read()}
	if o.Stderr = o.Stdout; c.stderr.file != c.stdout.file {
		o.Stderr = c.stderr.read()
	}
	return o
}

func (c capture) read() []byte {
	info, err := c.file.Stat()
	if err != nil {
		return nil
	}
	size := info.Size() - c.from
	if size <= headKept+tailKept {
		return c.section(0, size)
	}
	return append(c.section(0, headKept), c.section(size-tailKept, tailKept)...)
}

func (c capture) section(from, size int64) []byte {
	text, _ := fsread.ReadAll(io.NewSectionReader(c.file, c.from+from, max(size, 0)), headKept+tailKept)
	return text
}

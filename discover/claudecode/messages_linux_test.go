package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"agentctl/discover"
)

// bytesRead is how much this process has read so far.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/io")
	must(t, err)
	if _, err := fmt.Sscanf(string(raw), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The newest messages of a 1 GB transcript cost a read of 256 KB at most.
func TestLastMessagesOfAHugeTranscript(t *testing.T) {
	tail := bytes.Repeat(transcriptOf(t, longTUI), 4)
	path := writeTranscript(t, t.TempDir(), "")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(append([]byte{'\n'}, tail...), 1<<30) // what is before it is a hole
	must(t, err)
	must(t, f.Close())

	before, n := bytesRead(t), 0
	for _, err := range New().Messages(context.Background(), discover.Record{ID: alive, Path: path}) {
		must(t, err)
		if n++; n == 20 {
			break
		}
	}
	if got := bytesRead(t) - before; n != 20 || got > 256<<10 {
		t.Errorf("%d bytes read for %d messages of %d bytes", got, n, len(tail))
	}
}

package codex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentctl/discover"
)

// bytesReadByThread is the number of bytes that this operating system thread has read from files.
func bytesReadByThread(t *testing.T) (n int64) {
	t.Helper()
	data, err := os.ReadFile("/proc/thread-self/io")
	if err == nil {
		_, err = fmt.Sscanf(string(data), "rchar: %d", &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The last 20 messages of a rollout of a gigabyte cost as few bytes as those of a short one.
func TestBytesReadOfALongRollout(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lines := []string{metaLine, startedLine, contextLine}
	for range 200 {
		lines = append(lines, askedLine, answerLine)
	}
	end := string(rollout(lines...))
	for _, size := range []int64{0, 1 << 30} {
		w := newTestHome(t)
		path := w.file("sessions/2026/11/20/"+nameA, strings.Join(lines[:1], "")+"\n")
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt([]byte("\n"+end), max(size, int64(len(metaLine))))
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		r := discover.Record{ID: threadA, Path: path, Home: filepath.Dir(path)}
		before, n := bytesReadByThread(t), 0
		for m, err := range New().Messages(t.Context(), r) {
			if err != nil || m.Text == "" {
				t.Fatal(m, err)
			}
			if n++; n == 20 {
				break
			}
		}
		if read := bytesReadByThread(t) - before; n != 20 || read > 256<<10 {
			t.Errorf("of %d bytes, %d were read for %d messages", size, read, n)
		}
	}
}

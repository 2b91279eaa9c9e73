package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// procfs is a mounted proc(5) file system, or a recorded one in a test.
type procfs struct {
	root string
	boot func() (bootInfo, error) // read once: a procfs lives as long as one table
}

// bootInfo is what all processes of one boot have in common.
type bootInfo struct {
	// id is the boot id, "" in a sandbox whose /proc does not have it.
	id string
	// time is the wall clock at tick 0, in whole seconds; zero where /proc/stat is hidden (subset=pid).
	time time.Time
	// exactTime is the same by the clocks of this moment; zero for a recorded file system.
	exactTime time.Time
}

func mount(root string) *procfs {
	return &procfs{root: root, boot: sync.OnceValues(func() (bootInfo, error) {
		if err := checkNamespace(root); err != nil {
			return bootInfo{}, err
		}
		return readBootInfo(root)
	})}
}

// systemRoot is the mount point of the system's own proc file system.
const systemRoot = "/proc"

func system() backend { return mount(systemRoot) }

func readBootInfo(root string) (bootInfo, error) {
	boot, err := readOptional(root, "sys/kernel/random/boot_id")
	if err != nil {
		return bootInfo{}, err
	}
	stat, err := readOptional(root, "stat")
	if err != nil {
		return bootInfo{}, err
	}
	booted, err := parseBootTime(stat)
	m := bootInfo{id: strings.TrimSpace(string(boot)), time: booted}
	if root == systemRoot {
		m.exactTime = exactBootTime()
	}
	return m, err
}

// exactBootTime returns the wall-clock time of tick 0, computed from the present clocks.
func exactBootTime() time.Time {
	began := time.Now()
	var since unix.Timespec // boot, suspension included, as the ticks are counted
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &since); err != nil {
		return time.Time{}
	}
	return began.Add(-time.Duration(since.Nano())).UTC().Round(0)
}

// checkNamespace returns ErrNamespace if the proc file system is that of another pid namespace than ours.
func checkNamespace(root string) error {
	self, err := os.Readlink(filepath.Join(root, "self"))
	if err != nil {
		return fmt.Errorf("reading the process table: %w", err)
	}
	if self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("%w: in %s we are %q, and %d here", ErrNamespace, root, self, os.Getpid())
	}
	return nil
}

// readOptional reads a file of the proc file system; nil if it does not exist.
func readOptional(root, name string) ([]byte, error) {
	raw, err := pidDir(root + "/").read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// parseBootTime finds the time of boot in /proc/stat, zero if it is not there. Unlike a difference of clocks it is the
// same in every reading: the kernel truncates it to whole seconds.
func parseBootTime(stat []byte) (time.Time, error) {
	for line := range bytes.Lines(stat) {
		if s, ok := bytes.CutPrefix(line, []byte("btime ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(s)), 10, 64)
			if err != nil {
				return time.Time{}, fmt.Errorf("/proc/stat: btime: %w", err)
			}
			return time.Unix(n, 0).UTC(), nil
		}
	}
	return time.Time{}, nil
}

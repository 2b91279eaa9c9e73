package proc

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// verified reads one fact of the process that has p's pid, and returns it only if that process is p, is alive, and runs
// the program that p was read with. The last condition matters for a forked child: it has its parent's binary until it
// executes its own program, and its later arguments say nothing about the former.
func verified[T any](f *procfs, p Process, read func(pidDir) (T, error)) (T, error) {
	var none T
	d := f.pid(p.ID.PID)
	fact, failed := read(d)
	if err := f.checkAlive(d, p.ID); err != nil {
		return none, err
	}
	if exe, _, err := d.readTarget("exe"); p.Exe != "" && err == nil && exe != p.Exe {
		return none, ErrGone
	}
	if errors.Is(failed, unix.ESRCH) {
		return none, ErrGone // it has released its memory: the process is ending
	}
	if failed != nil {
		return none, failed
	}
	return fact, nil
}

// checkAlive returns ErrGone unless the process of the directory has this ID and is alive.
func (f *procfs) checkAlive(d pidDir, id ID) error {
	m, err := f.boot()
	if err != nil {
		return err
	}
	s, err := d.stat("stat")
	if err != nil {
		return err
	}
	if m.processID(s) != id || s.state.Dead() {
		return ErrGone
	}
	return nil
}

func (f *procfs) args(p Process) ([]string, error) {
	return verified(f, p, func(d pidDir) ([]string, error) {
		raw, err := d.read("cmdline")
		if raw = bytes.TrimRight(raw, "\x00"); len(raw) == 0 { // one that was cleared still has as many bytes
			return nil, err
		}
		return strings.Split(string(raw), "\x00"), err
	})
}

func (f *procfs) cwd(p Process) (string, error) {
	return verified(f, p, func(d pidDir) (string, error) {
		path, deleted, err := d.readTarget("cwd")
		if err == nil && d.pathDiffers("cwd", path, deleted) {
			return "", pathError("readlink", string(d)+"cwd", ErrPathDiffers)
		}
		return path, err
	})
}

func (f *procfs) env(p Process, keys []string) (map[string]string, error) {
	return verified(f, p, func(d pidDir) (map[string]string, error) { return d.environ(keys) })
}

// environ returns the named variables of the environment.
func (d pidDir) environ(keys []string) (map[string]string, error) {
	raw, err := d.read("environ")
	if err != nil {
		return nil, err
	}
	return selectEnv(raw, keys), nil
}

func (f *procfs) openFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	return verified(f, p, func(d pidDir) ([]OpenFile, error) { return d.openFiles(match) })
}

func (f *procfs) listenPorts(p Process, ours listenersFunc) ([]int, error) {
	return verified(f, p, func(d pidDir) ([]int, error) { return d.listenPorts(ours) })
}

func (f *procfs) pidNamespace(p Process) (string, error) {
	return verified(f, p, func(d pidDir) (string, error) { return d.readlink("ns/pid") })
}

func (d pidDir) openFiles(match func(string) bool) ([]OpenFile, error) {
	fds, err := d.listNumbers("fd")
	if err != nil {
		return nil, err
	}
	var files []OpenFile
	for _, fd := range fds {
		file, ok, err := d.openFile(fd, match)
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if ok {
			files = append(files, file)
		}
	}
	return files, nil
}

// openFile describes one descriptor. It returns false if the descriptor is not a file, if match does not accept it, or if
// its number was reused during the reading.
func (d pidDir) openFile(fd int, match func(string) bool) (OpenFile, bool, error) {
	name := "fd/" + strconv.Itoa(fd)
	path, deleted, err := d.readTarget(name)
	if err != nil || !match(path) || !strings.HasPrefix(path, "/") {
		return OpenFile{}, false, err
	}
	raw, err := d.read("fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return OpenFile{}, false, err
	}
	info, err := parseFdinfo(raw)
	if err != nil {
		return OpenFile{}, false, pathError("parse", string(d)+"fdinfo/"+strconv.Itoa(fd), err)
	}
	elsewhere := d.pathDiffers(name, path, deleted)
	again, gone, err := d.readTarget(name)
	if elsewhere && gone && !deleted { // removed in between
		deleted, elsewhere = true, d.pathDiffers(name, path, true)
	}
	return OpenFile{
		FD: fd, Path: path, Deleted: deleted, PathDiffers: elsewhere, Proc: string(d) + name,
		Writable: info.writable, Offset: info.offset, WriteLocked: info.writeLocked, ReadLocked: info.readLocked,
	}, again == path, err
}

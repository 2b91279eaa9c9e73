package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"agentctl/tests/hostile/mutate"
)

// damage does one random damage below root, where sessions are stored.
func (t *trial) damage(root string) error {
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != root {
			all = append(all, path)
		}
		return nil // what was damaged before may be unreadable
	})
	if err != nil || len(all) == 0 {
		return err
	}
	path := all[t.IntN(len(all))]
	for range 8 { // files rather than directories, and transcripts rather than others
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && (info.Size() > 0 || t.IntN(4) == 0) {
			break
		}
		path = all[t.IntN(len(all))]
	}
	t.Mutations++
	info, err := os.Lstat(path)
	if err != nil {
		return nil // a damage before took it
	}
	switch n := t.IntN(10); {
	case n < 6 && info.Mode().IsRegular():
		return t.content(path, info)
	case n < 8:
		return t.replace(path)
	default:
		return t.entries(path)
	}
}

// largest is the size in bytes of the largest file whose content is damaged: one with a hole has terabytes.
const largest = 16 << 20

// touch notes that what lies at a path, or below, is not what it was.
func (t *trial) touch(path, format string, args ...any) {
	rel, err := filepath.Rel(t.home, path)
	if err == nil {
		t.touched[rel] = true
	}
	t.note("%q: %s", rel, fmt.Sprintf(format, args...))
}

// content damages what is in a file, by its format in most cases. Its times stay.
func (t *trial) content(path string, info fs.FileInfo) error {
	if info.Size() > largest {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil // its mode was damaged before
	}
	kinds := mutate.Bytes()
	switch name := filepath.Base(path); {
	case t.IntN(4) == 0:
	case strings.HasSuffix(name, ".jsonl") && strings.Contains(path, "/.codex/sessions/") && t.IntN(4) == 0:
		return t.compressed(path, raw, info)
	case strings.Contains(name, ".json"):
		kinds = mutate.Lines()
	case strings.HasSuffix(name, "-wal"):
		kinds = mutate.WAL()
	case bytes.HasPrefix(raw, []byte("SQLite format 3\x00")):
		kinds = mutate.SQLite()
	}
	if strings.Contains(path, ".jsonl") && t.IntN(6) == 0 {
		raw, what := t.redirect(raw)
		t.touch(path, "%s", what)
		return t.save(path, raw, info)
	}
	raw, what := mutate.Pick(t.Rand, kinds)(t.Rand, raw)
	t.touch(path, "%s", what)
	return t.save(path, bytes.ReplaceAll(raw, []byte(mutate.Canary), []byte(t.canary+"/text")), info)
}

func (t *trial) save(path string, raw []byte, info fs.FileInfo) error {
	if err := os.WriteFile(path, raw, info.Mode().Perm()); err != nil {
		return err
	}
	if t.IntN(4) == 0 {
		return nil // written now
	}
	return os.Chtimes(path, info.ModTime(), info.ModTime())
}

// compressed puts a compressed rollout in place of a plain one, damaged in most cases.
func (t *trial) compressed(path string, raw []byte, info fs.FileInfo) error {
	packed, what := mutate.Compress(raw), "compressed"
	if t.IntN(4) > 0 {
		packed, what = mutate.Pick(t.Rand, mutate.Zstd())(t.Rand, packed)
	}
	t.touch(path, "%s", what)
	if t.IntN(4) > 0 { // otherwise both are there
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return t.save(path+".zst", packed, info)
}

// redirect names another working directory in all of a transcript: one in which reading is dangerous.
func (t *trial) redirect(raw []byte) ([]byte, string) {
	dir := t.trap()
	text, err := json.Marshal(dir)
	if err != nil {
		return raw, "nothing"
	}
	quoted := append([]byte(`"cwd":`), text...)
	for _, sep := range []string{`"cwd":"`, `"cwd": "`} {
		for from := 0; ; {
			i := bytes.Index(raw[from:], []byte(sep))
			if i < 0 {
				break
			}
			i += from
			end := bytes.IndexByte(raw[i+len(sep):], '"')
			if end < 0 {
				break
			}
			raw = append(append(bytes.Clone(raw[:i]), quoted...), raw[i+len(sep)+end+1:]...)
			from = i + len(quoted)
		}
	}
	return raw, "works in " + dir
}

// replace puts something that is not a regular file in place of what is there.
func (t *trial) replace(path string) error {
	old := path + ".old"
	switch t.IntN(4) {
	case 0:
		old = filepath.Join(t.dir, fmt.Sprintf("moved-%d", t.Mutations))
	case 1:
		old = ""
	}
	kind := t.IntN(12)
	if kind >= 9 { // the file itself stays, and becomes something else
		return t.sparse(path, kind)
	}
	err := error(nil)
	if old == "" {
		err = os.RemoveAll(path)
	} else {
		err = os.Rename(path, old)
		t.touch(old, "moved here")
	}
	if err != nil {
		return err
	}
	return t.special(path, old, kind)
}

// special makes a file of a kind that no reader expects.
func (t *trial) special(path, old string, kind int) error {
	switch kind {
	case 0, 1:
		t.touch(path, "FIFO")
		return syscall.Mkfifo(path, 0o600)
	case 2:
		t.touch(path, "socket")
		return socket(path)
	case 3:
		targets := []string{
			filepath.Base(path), ".", "..", "/", "/dev/zero", "/dev/ptmx", "/dev/tty", "/dev/stdin", "/proc/self/fd/0", "/proc/kmsg", "/proc/self/mem",
			"/proc/self/environ", "/sys/kernel/debug", "nowhere", filepath.Join(t.repo, "file"), strings.Repeat("a/../", 800) + "x",
		}
		target := targets[t.IntN(len(targets))]
		t.touch(path, "link to %.60q", target)
		return os.Symlink(target, path)
	case 4:
		t.touch(path, "link out of the home and back")
		if old == "" {
			old = t.repo
		}
		return os.Symlink(old, path)
	case 5:
		device := [][2]int{{1, 3}, {1, 5}, {1, 8}, {5, 2}, {1, 11}, {10, 200}, {4, 0}}[t.IntN(7)]
		t.touch(path, "device %d:%d", device[0], device[1])
		err := syscall.Mknod(path, syscall.S_IFCHR|0o666, device[0]<<8|device[1])
		if errors.Is(err, fs.ErrPermission) {
			t.LeftOut = append(t.LeftOut, "devices")
			return nil
		}
		return err
	case 6:
		t.touch(path, "directory")
		return os.MkdirAll(filepath.Join(path, "in", "it"), 0o755)
	case 7:
		t.touch(path, "file")
		return os.WriteFile(path, []byte("a file\n"), 0o644)
	default:
		t.touch(path, "link to a FIFO")
		return errors.Join(syscall.Mkfifo(path+".fifo", 0o600), os.Symlink(filepath.Base(path)+".fifo", path))
	}
}

// socket leaves a socket that nobody listens on. Its path may be longer than an address may.
func socket(path string) error {
	fd, err := syscall.Open(filepath.Dir(path), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fmt.Sprintf("/proc/self/fd/%d/%.40s.sock", fd, "s"), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(l.Close(), os.Rename(filepath.Join(filepath.Dir(path), "s.sock"), path))
}

// sparse makes a file long by holes, or takes all rights from it.
func (t *trial) sparse(path string, kind int) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largest {
		return nil
	}
	if kind == 11 {
		t.touch(path, "no rights")
		return os.Chmod(path, 0)
	}
	size := int64(1) << (30 + t.IntN(11))
	t.touch(path, "a hole of %d bytes", size)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	at := int64(0)
	if len(raw) > 0 {
		at = int64(t.IntN(len(raw)))
	}
	if kind == 9 { // at the end
		return errors.Join(f.Truncate(size), os.Chtimes(path, info.ModTime(), info.ModTime()))
	}
	_, err = f.WriteAt(raw[at:], size)
	for i := at; i < int64(len(raw)) && err == nil; i += 4096 {
		_, err = f.WriteAt(make([]byte, min(4096, int64(len(raw))-i)), i)
	}
	return errors.Join(err, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// entries changes names: of the file, or of copies and strangers beside it.
func (t *trial) entries(path string) error {
	dir := filepath.Dir(path)
	name := mutate.Name(t.Rand)
	beside := filepath.Join(dir, name)
	if _, err := os.Lstat(beside); err == nil {
		return nil
	}
	ext := filepath.Ext(path)
	if len(name)+len(ext) <= 255 && t.IntN(2) == 0 {
		beside += ext
	}
	switch t.IntN(6) {
	case 0:
		t.touch(path, "renamed to %q", filepath.Base(beside))
		t.touch(beside, "a new name")
		return os.Rename(path, beside)
	case 1:
		t.touch(beside, "another name of the file")
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		t.touch(path, "has two names")
		return os.Link(path, beside)
	case 2:
		t.note("many entries in %q", dir)
		for i := range 3000 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08x-0000-4000-8000-%012x%s", i, i, ext)), nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	case 3:
		t.note("a deep directory in %q", dir)
		return os.MkdirAll(filepath.Join(dir, strings.Repeat("deep/", 60)), 0o755)
	case 4:
		t.note("%q: FIFO of that name", beside)
		return syscall.Mkfifo(beside, 0o644)
	default:
		t.note("directory %q", beside)
		return errors.Join(os.Mkdir(beside, 0o755), os.WriteFile(filepath.Join(beside, "x.jsonl"), []byte("{}\n"), 0o644))
	}
}

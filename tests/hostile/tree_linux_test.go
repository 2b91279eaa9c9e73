package hostile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// tree is what lies below a directory, by the path from there.
type tree map[string]entry

// entry is what must be the same of a file afterwards.
type entry struct {
	mode     fs.FileMode
	uid, gid uint32
	size     int64
	changed  syscall.Timespec
	inode    uint64
	links    uint64
	target   string // of a symbolic link
	sum      [32]byte
}

// readTree reads what lies below a directory. Files are opened only if they are regular.
func readTree(root string) (tree, error) {
	all := tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return fmt.Errorf("lstat %q: %w", path, err)
		}
		e := entry{uid: st.Uid, gid: st.Gid, size: st.Size, changed: st.Mtim, inode: st.Ino}
		e.links = uint64(st.Nlink)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch e.mode = info.Mode(); {
		case e.mode.IsRegular():
			e.sum, err = sum(path, st.Size, st.Blocks*512)
		case e.mode&fs.ModeSymlink != 0:
			e.target, err = os.Readlink(path)
		}
		rel, _ := filepath.Rel(root, path)
		all[rel] = e
		return err
	})
	return all, err
}

// sum is the checksum of a file's content; of a large one or one with holes, that of its ends.
func sum(path string, size, allocated int64) (out [32]byte, err error) {
	const end = 64 << 10
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	defer f.Close()
	h := sha256.New()
	if size < 64<<20 && allocated < 65<<20 {
		_, err = io.Copy(h, f)
	} else {
		_, err = io.Copy(h, io.MultiReader(io.NewSectionReader(f, 0, end), io.NewSectionReader(f, size-end, end)))
	}
	h.Sum(out[:0])
	return out, err
}

// differences says what is not the same in two trees.
func differences(before, after tree) (list []string) {
	for _, path := range slices.Sorted(maps.Keys(before)) {
		b := before[path]
		switch a, there := after[path]; {
		case !there:
			list = append(list, fmt.Sprintf("%q is gone", path))
		case a != b:
			a.sum, b.sum = [32]byte{}, [32]byte{}
			list = append(list, fmt.Sprintf("%q was %+v and is %+v", path, b, a))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if _, there := before[path]; !there {
			list = append(list, fmt.Sprintf("%q is new", path))
		}
	}
	return list
}

// copyTree copies directories, regular files and links, with their times.
func copyTree(from, to string) error {
	type stamp struct {
		path string
		at   time.Time
	}
	var dirs []stamp
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			dirs = append(dirs, stamp{target, info.ModTime()})
			return os.MkdirAll(target, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(link, target))
		case !info.Mode().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(target, raw, info.Mode().Perm()), os.Chtimes(target, info.ModTime(), info.ModTime()))
	})
	for _, d := range slices.Backward(dirs) {
		err = errors.Join(err, os.Chtimes(d.path, d.at, d.at))
	}
	return err
}

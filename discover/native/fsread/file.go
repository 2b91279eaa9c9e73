package fsread

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"
)

// File is a regular file opened for reading. Its size is the size at the moment of opening: what is appended later is not
// read.
type File struct {
	ctx     context.Context // a file is read within one call
	path    string
	file    *os.File // nil: the file is in memory
	info    fs.FileInfo
	size    int64
	mod     time.Time
	content []byte // of a file in memory
	release func() // releases large memory; nil: none is held
}

// Open opens a regular file. It does not follow a link in the last element, does not block and creates nothing. Reads of
// the file fail when ctx ends. The file is opened beneath the root that ctx confines the path to; see [Confine].
func Open(ctx context.Context, path string) (*File, error) { return open(ctx, path, NoFollow) }

// OpenLink is [Open] for a path whose last element may be a link, such as /proc/PID/fd/N.
func OpenLink(ctx context.Context, path string) (*File, error) { return open(ctx, path, Follow) }

func open(ctx context.Context, path string, links Links) (*File, error) {
	f, info, err := OpenFile(ctx, path, links)
	if err != nil {
		return nil, err
	}
	return &File{ctx: ctx, path: path, file: f, info: info, size: info.Size(), mod: info.ModTime().UTC()}, nil
}

// Context returns the context that reads of the file end with.
func (f *File) Context() context.Context { return f.ctx }

// Path returns the path that the file was opened by.
func (f *File) Path() string { return f.path }

// SameFile reports whether f and g are one file, by device and inode.
func (f *File) SameFile(g *File) bool { return os.SameFile(f.info, g.info) }

// Size returns the file's size in bytes when it was opened.
func (f *File) Size() int64 { return f.size }

// ModTime returns the file's modification time when it was opened, UTC.
func (f *File) ModTime() time.Time { return f.mod }

// Close closes the file, and releases the large memory that it holds; see [File.AcquireLarge].
func (f *File) Close() error {
	if f.release != nil {
		f.release()
	}
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// NewMemoryFile returns a file with this content, which is read without system calls.
func NewMemoryFile(path string, data []byte, mod time.Time) *File {
	return &File{ctx: context.Background(), path: path, size: int64(len(data)), mod: mod, content: data}
}

// WithContent returns a file like f with another content, such as the uncompressed one. Closing it calls release and
// leaves f open.
func (f *File) WithContent(content []byte, release func()) *File {
	with := NewMemoryFile(f.path, content, f.mod)
	with.ctx, with.release = f.ctx, release
	return with
}

// Head returns the file as if it ended after n bytes. It shares the open file of f: close f only.
func (f *File) Head(n int64) *File {
	head := *f
	head.size = max(min(n, f.size), 0)
	return &head
}

// ReadAt implements io.ReaderAt. If the file has shrunk meanwhile, it returns io.EOF early.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if f.file != nil {
		return f.file.ReadAt(p, off)
	}
	n := copy(p, f.content[min(off, int64(len(f.content))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

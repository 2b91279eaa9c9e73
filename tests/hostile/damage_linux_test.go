package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// quit has a Go program print its goroutines.
const quit = syscall.SIGQUIT

// largest is the size of the largest file whose content is damaged.
const largest = 16 << 20

// damage does one damage to something below the home.
func (c *trial) damage() error {
	var all []string
	for _, store := range []string{".claude", ".codex", ".local/share/opencode"} {
		root := filepath.Join(c.home, store)
		_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && path != root {
				all = append(all, path)
			}
			return nil // what was damaged before may be unreadable
		})
	}
	path := all[c.IntN(len(all))]
	for range 8 { // files rather than directories
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			break
		}
		path = all[c.IntN(len(all))]
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch n := c.IntN(10); {
	case n < 6 && info.Mode().IsRegular() && info.Size() < largest:
		return c.content(path, info)
	case n < 9:
		return c.replace(path)
	default:
		return c.rename(path)
	}
}

// touch notes that what lies at a path is not what it was.
func (c *trial) touch(path, format string, args ...any) {
	rel, _ := filepath.Rel(c.home, path)
	c.touched[rel] = true
	c.done = append(c.done, fmt.Sprintf("%q: %s", rel, fmt.Sprintf(format, args...)))
}

// content damages what is in a file, JSON by its own damages in most cases. Its times stay.
func (c *trial) content(path string, info fs.FileInfo) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	damages := byteDamages()
	switch {
	case strings.HasSuffix(path, ".jsonl") && strings.Contains(path, ".codex/sessions") && c.IntN(6) == 0:
		raw = c.compress(raw)
		c.touch(path, "compressed")
		if err := os.Remove(path); err != nil {
			return err
		}
		path += ".zst"
	case strings.Contains(filepath.Base(path), ".json") && c.IntN(4) > 0:
		damages = lineDamages()
	}
	d := damages[c.IntN(len(damages))]
	c.touch(path, "%s", d.name)
	raw = d.do(c.Rand, raw)
	return errors.Join(os.WriteFile(path, raw, info.Mode().Perm()), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// compress makes a compressed rollout, in some cases of one that unpacks to much more.
func (c *trial) compress(raw []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	check(c.T, err)
	defer w.Close()
	packed := w.EncodeAll(raw, nil)
	if c.IntN(3) == 0 {
		packed = append(packed, bytes.Repeat(w.EncodeAll(bytes.Repeat([]byte("{}\n"), 1<<20), nil), 100)...)
	}
	return packed
}

// replace puts something that no reader expects in place of what is there.
func (c *trial) replace(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	kind := c.IntN(8)
	if info.Mode().IsRegular() {
		switch kind {
		case 0:
			c.touch(path, "a hole of a terabyte")
			return errors.Join(os.Truncate(path, 1<<40), os.Chtimes(path, info.ModTime(), info.ModTime()))
		case 1:
			c.touch(path, "no rights")
			return os.Chmod(path, 0)
		}
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	switch kind {
	case 2, 3:
		c.touch(path, "FIFO")
		return syscall.Mkfifo(path, 0o600)
	case 4:
		c.touch(path, "directory")
		return os.MkdirAll(filepath.Join(path, "in", "it"), 0o755)
	case 5:
		c.touch(path, "file")
		return os.WriteFile(path, []byte("a file\n"), 0o644)
	default:
		targets := []string{filepath.Base(path), ".", "/", "/dev/zero", "/dev/tty", "/proc/self/mem", "/proc/self/fd/0", "nowhere", strings.Repeat("a/../", 800) + "x"}
		target := targets[c.IntN(len(targets))]
		c.touch(path, "link to %.60q", target)
		return os.Symlink(target, path)
	}
}

// rename gives a file a name that means something to a shell, a terminal, or a parser of options or paths.
func (c *trial) rename(path string) error {
	names := []string{
		"a\nb", "\x1b[31mred", "-rf", "$(touch x)", "\xff\xfe\x80", "..x", " ", "*", "a\tb", "\u202etxt", "%s", "a'b\"c", strings.Repeat("n", 240), strings.Repeat("é", 120),
		"\u009b2J", "pid:1",
	}
	to := filepath.Join(filepath.Dir(path), names[c.IntN(len(names))]+filepath.Ext(path))
	c.touch(path, "renamed to %q", filepath.Base(to))
	return os.Rename(path, to)
}

// damage changes the content of a file.
type damage struct {
	name string
	do   func(*rand.Rand, []byte) []byte
}

// part is a part of a text, of at most so many bytes.
func part(r *rand.Rand, raw []byte, most int) (from, to int) {
	if len(raw) == 0 {
		return 0, 0
	}
	from = r.IntN(len(raw))
	return from, min(from+1+r.IntN(most), len(raw))
}

// byteDamages are those that know nothing of the format.
func byteDamages() []damage {
	return []damage{
		{"flipped bytes", func(r *rand.Rand, raw []byte) []byte {
			for range min(20, len(raw)) {
				raw[r.IntN(len(raw))] ^= byte(1 + r.IntN(255))
			}
			return raw
		}},
		{"flipped bytes at the beginning", func(r *rand.Rand, raw []byte) []byte { // the header and the schema of a database, of a compressed file
			for range min(4, len(raw)) {
				raw[r.IntN(min(len(raw), 512))] ^= byte(1 + r.IntN(255))
			}
			return raw
		}},
		{"cut off", func(r *rand.Rand, raw []byte) []byte { from, _ := part(r, raw, 1); return raw[:from] }},
		{"empty", func(*rand.Rand, []byte) []byte { return nil }},
		{"zeros", func(r *rand.Rand, raw []byte) []byte { from, to := part(r, raw, 8192); clear(raw[from:to]); return raw }},
		{"a block gone", func(r *rand.Rand, raw []byte) []byte {
			from, to := part(r, raw, 8192)
			return slices.Delete(raw, from, to)
		}},
		{"a block many times", func(r *rand.Rand, raw []byte) []byte {
			from, to := part(r, raw, 4096)
			return slices.Insert(raw, to, bytes.Repeat(raw[from:to], 1+r.IntN(64))...)
		}},
		{"another format", func(_ *rand.Rand, raw []byte) []byte { return append([]byte("SQLite format 3\x00"), raw...) }},
	}
}

// lineDamages are those of JSON values, one a line.
func lineDamages() []damage {
	value := damage{"other JSON values", func(r *rand.Rand, raw []byte) []byte {
		return object(r, raw, func(v any) any { return inside(r, v) })
	}}
	insert := func(name string, text func(*rand.Rand) string) damage {
		return damage{name, func(r *rand.Rand, raw []byte) []byte {
			from, to := line(r, raw)
			return slices.Replace(raw, from, to, []byte(text(r))...)
		}}
	}
	return []damage{
		value, value, value, value,
		insert("no object", func(r *rand.Rand) string {
			list := []string{"null", "[]", `""`, "0", "{", "nul", `{"type":}`, "{}{}", "NaN", "\x00", "\r\n", `{"a":1,}`}
			return list[r.IntN(len(list))]
		}),
		insert("a deep value", func(*rand.Rand) string { return strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000) }),
		insert("a huge line", func(*rand.Rand) string {
			return `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("long ", 5<<20) + `"}}`
		}),
		insert("many short lines", func(*rand.Rand) string { return strings.Repeat("{}\n", 1<<18) }),
		{"a line many times", func(r *rand.Rand, raw []byte) []byte {
			from, to := line(r, raw)
			return slices.Insert(raw, from, bytes.Repeat(append(bytes.Clone(raw[from:to]), '\n'), 1+r.IntN(500))...)
		}},
		{"lines in another order", func(r *rand.Rand, raw []byte) []byte {
			list := bytes.SplitAfter(raw, []byte("\n"))
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return slices.Concat(list...)
		}},
		{"other years", func(r *rand.Rand, raw []byte) []byte {
			years := []string{"0000", "9999", "1969", "2106", "-001"}
			return bytes.ReplaceAll(raw, []byte(`"2026-`), []byte(`"`+years[r.IntN(len(years))]+"-"))
		}},
		{"bad escapes", func(r *rand.Rand, raw []byte) []byte {
			list := []string{`\ud800`, `\u0000`, `\u001b[2J`, `\u009b`, `\u202e`, `\u12`}
			return bytes.ReplaceAll(raw, []byte("e "), []byte(list[r.IntN(len(list))]))
		}},
	}
}

// line is one line without its end, the first and the last more often.
func line(r *rand.Rand, raw []byte) (from, to int) {
	switch r.IntN(4) {
	case 0:
	case 1:
		from = bytes.LastIndexByte(bytes.TrimRight(raw, "\n"), '\n') + 1
	default:
		from, _ = part(r, raw, 1)
		from = bytes.LastIndexByte(raw[:from], '\n') + 1
	}
	if to = bytes.IndexByte(raw[from:], '\n'); to < 0 {
		return from, len(raw)
	}
	return from, from + to
}

// object replaces one line by what change makes of the JSON value in it.
func object(r *rand.Rand, raw []byte, change func(any) any) []byte {
	from, to := line(r, raw)
	var v any
	if json.Unmarshal(raw[from:to], &v) != nil {
		return raw
	}
	out, err := json.Marshal(change(v))
	if err != nil {
		return raw
	}
	return slices.Replace(raw, from, to, out...)
}

// inside puts another value in a random place of a value, or takes a member away.
func inside(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		if len(keys) == 0 || r.IntN(8) == 0 {
			return other(r)
		}
		key := keys[r.IntN(len(keys))]
		if v[key] = inside(r, v[key]); r.IntN(8) == 0 {
			delete(v, key)
		}
		return v
	case []any:
		if len(v) == 0 || r.IntN(8) == 0 {
			return other(r)
		}
		i := r.IntN(len(v))
		v[i] = inside(r, v[i])
		return v
	}
	return other(r)
}

// other is a JSON value of any kind; texts are such as act on who prints, splits, quotes or expands them without care.
func other(r *rand.Rand) any {
	list := []any{
		nil, true,
		[]any{},
		map[string]any{},
		[]any{nil},
		json.Number("-1"), json.Number("1e308"), json.Number("9223372036854775807"), json.Number("18446744073709551616"),
		json.Number("1" + strings.Repeat("0", 300)), "\x1b[2J\x1b]0;owned\x07", "\u009b2J", "a\rb\bc\x7f", "\u202eevil\u2066x\u2069", "line\nagentctl: error: forged\n",
		"$(touch x)`touch x`", "{{.}}{{call .}}", "%s%n", "--help", "../../../../etc/passwd", "/dev/zero", "/proc/1/root", "\x00", "\ud7ff\uffff", "", "e" + strings.Repeat("\u0301", 2000),
		"日本語😀", strings.Repeat("A", 1<<20), strings.Repeat("[", 50_000), "9999999999999999999999999",
	}
	return list[r.IntN(len(list))]
}

package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Records is [File.Forward] for a file with a JSON object, a record, on each line. It reads what agents leave on disk after a crash, and
// what other programs write there:
//
//   - a byte order mark before a record belongs to none;
//   - records without a line break between them are visited one by one;
//   - of a record that was cut off, and one that follows it on the same line, the second is visited;
//   - a last record without a line break is visited if it is complete.
//
// What is left of a record that was cut off, or overwritten with zeros, is visited as a line of its own, which is a Rest.
func (f *File) Records(limit int64, visit func(Line) bool) (whole bool, err error) {
	return f.Parse(limit, checked(visit))
}

// RecordsBackward is [File.Backward] for the lines that [File.Records] visits.
func (f *File) RecordsBackward(limit int64, visit func(Line) bool) (whole bool, err error) {
	return f.ParseBackward(limit, checked(visit))
}

func checked(visit func(Line) bool) Parser {
	return func(l Line) (complete, more bool) {
		complete = l.Cut || l.Rest || Object(l.Bytes).Complete()
		return complete, !complete || visit(l)
	}
}

// Parser visits a record, and reports whether its object is [Object.Complete] and whether more records are wanted. It takes nothing from a
// line that is not complete, unless that is Cut or a Rest: it gets the records in the line instead.
type Parser func(Line) (complete, more bool)

// Parse is [File.Records] for a parser, which reads each line once. Of an unterminated last line, only the line break may be missing.
func (f *File) Parse(limit int64, parse Parser) (whole bool, err error) {
	each := func(l Line) bool { return l.parse(parse, false) }
	return f.forward(limit, each, func(l Line) bool { return !Object(l.Bytes).Complete() || each(l) })
}

// ParseBackward is [File.RecordsBackward] for a parser.
func (f *File) ParseBackward(limit int64, parse Parser) (whole bool, err error) {
	each := func(l Line) bool { return l.parse(parse, true) }
	return f.backward(limit, each, func(l Line) bool { return !Object(l.Bytes).Complete() || each(l) })
}

// byteOrderMark says that a text is UTF-8. Editors of Windows write it.
const byteOrderMark = "\uFEFF"

// parse gives the line to a parser or, if it is not one record, each record in it and each rest of one.
func (l Line) parse(parse Parser, backward bool) (more bool) {
	l.Bytes = bytes.TrimPrefix(l.Bytes, []byte(byteOrderMark))
	if complete, more := parse(l); complete || l.Cut || !more {
		return more
	}
	parts := l.split()
	if backward {
		slices.Reverse(parts)
	}
	for _, part := range parts {
		if _, more := parse(part); !more {
			return false
		}
	}
	return true
}

// Bounds of the search for the records of one line.
const (
	maxParts    = 1 << 16
	maxAttempts = 1 << 6 // objects that do not end; a record that was cut off has as many as it was deep there
)

// split returns the records of a line in their order, and each rest of a record. An object within a rest is a record if what follows
// could not follow it there: the end of the line, or another object.
func (l Line) split() (parts []Line) {
	b := l.Bytes
	rest := -1 // where a rest begins
	add := func(from, to int, rest bool) {
		parts = append(parts, Line{Bytes: b[from:to], Offset: l.Offset + int64(from), Rest: rest})
	}
	attempts := 0
	for at := len(b) - len(skipSpace(b)); at < len(b); at += len(b[at:]) - len(skipSpace(b[at:])) {
		n := 0
		if b[at] == '{' && bytes.HasPrefix(skipSpace(b[at+1:]), []byte(`"`)) && attempts < maxAttempts && len(parts) < maxParts {
			n = Object(b[at:]).Len(func([]byte, Value) int { return lengthUnknown })
			if n == 0 || bytes.IndexByte(b[at:at+n], 0) >= 0 {
				n, attempts = 0, attempts+1
			}
		}
		if after := skipSpace(b[at+n:]); n > 0 && (rest < 0 || len(after) == 0 || after[0] == '{' || after[0] == 0) {
			if rest >= 0 {
				add(rest, at, true)
				rest = -1
			}
			add(at, at+n, false)
			at += n
			continue
		}
		if rest < 0 {
			rest = at
		}
		if at += max(n, 1); attempts == maxAttempts || len(parts) == maxParts {
			break
		}
		if next := bytes.IndexByte(b[at:], '{'); next >= 0 {
			at += next
		} else {
			at = len(b)
		}
	}
	if rest >= 0 && !(len(parts) == 0 && json.Valid(b)) { // another value is no record, and not damaged
		add(rest, len(b), true)
	}
	return parts
}

// maxCounted is how many bytes are read to name a line by its number.
const maxCounted = 1 << 28

// Place names the line at an offset for a message: "line 12"; "byte 987654321" if counting the lines before it would take long.
func (f *File) Place(offset int64) string {
	lines, read, buf := 1, int64(0), make([]byte, maxChunk)
	for read < offset && f.counted < maxCounted {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), offset-read)], read)
		lines += bytes.Count(buf[:n], []byte("\n"))
		read, f.counted = read+int64(n), f.counted+int64(n)
		if err != nil {
			break
		}
	}
	if read < offset {
		return fmt.Sprintf("byte %d", offset)
	}
	return fmt.Sprintf("line %d", lines)
}

// Damage counts the damaged lines of a file.
type Damage struct {
	first int64 // the offset of the first one
	lines int
}

// Add adds a line.
func (d *Damage) Add(l Line) {
	if d.lines++; d.lines == 1 || l.Offset < d.first {
		d.first = l.Offset
	}
}

// Lost returns the error for a line that is left out: it is too long, or damaged.
func (f *File) Lost(l Line) error {
	if l.Cut {
		return fmt.Errorf("%s: a record of more than %d MiB is left out", f.Place(l.Offset), MaxLine>>20)
	}
	d := Damage{l.Offset, 1}
	return d.In(f)
}

// In returns the error that names the damage of a file; nil if there is none.
func (d *Damage) In(f *File) error {
	switch d.lines {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: a damaged record is left out", f.Place(d.first))
	}
	return fmt.Errorf("%s: a damaged record is left out, and %d more after it", f.Place(d.first), d.lines-1)
}

package githooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"agentctl/lock"
)

// errNotDir: a part of a path is a file; core.hooksPath may name one, such as /dev/null.
const errNotDir = syscall.ENOTDIR

// Install puts our lines into all hooks, or writes them anew where they are other ones. If a hook is not ours to write,
// unless it calls agentctl already, or is not as we wrote it, nothing is done: [*RefusedError]. Each hook changes as a
// whole, whenever we are killed, and installing again goes on from there.
func (p *Place) Install(ctx context.Context, want Wanted) ([]Hook, error) {
	if p.why == "" {
		// Git needs no such directory, and may have made none.
		if err := os.MkdirAll(p.dir, 0o777); err != nil {
			return nil, err
		}
	}
	refuses := func(f *file) bool {
		if why := f.taken(); why != "" {
			f.Why = why
			return true
		}
		return f.State == Foreign || f.State == Modified
	}
	return p.change(ctx, refuses, func(f *file) error { return f.install(want) })
}

// Uninstall takes our lines out, and leaves every hook as it was, to the byte and with its mode. If one is not as we wrote
// it, nothing is done: [*RefusedError].
func (p *Place) Uninstall(ctx context.Context) ([]Hook, error) {
	return p.change(ctx, func(f *file) bool { return f.State == Modified && !f.whole }, (*file).uninstall)
}

// change does something to all hooks that are ours to write, unless one refuses it. Others who change them wait.
func (p *Place) change(ctx context.Context, refuses func(*file) bool, do func(*file) error) ([]Hook, error) {
	if p.why == "" {
		turn, err := lock.TakeTurn(ctx, p.dir)
		if errors.Is(err, fs.ErrNotExist) {
			return p.Status()
		}
		if err != nil {
			return nil, err
		}
		defer turn.Release()
		if err := sweep(p.dir); err != nil {
			return nil, err
		}
	}
	files, err := p.look()
	if err != nil {
		return nil, err
	}
	var against []Hook
	for _, f := range files {
		if refuses(f) {
			against = append(against, f.Hook)
		}
	}
	if len(against) > 0 {
		return hooksOf(files), &RefusedError{against}
	}
	for _, f := range files {
		if f.State == Foreign || f.State == Manual {
			continue
		}
		if err := do(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return p.changed(files)
}

// changed looks again, so that what is told is what is there.
func (p *Place) changed(before []*file) ([]Hook, error) {
	after, err := p.look()
	if err != nil {
		return nil, err
	}
	for i, f := range after {
		f.Changed = f.there != before[i].there || f.text != before[i].text || f.mode != before[i].mode
	}
	return hooksOf(after), nil
}

// taken says what is in the way of keeping a hook under its other name; "" if nothing is. That the hook itself has that
// name too is left from a call that was killed.
func (f *file) taken() string {
	if f.State != Missing || f.form() != before {
		return ""
	}
	if _, err := os.Lstat(f.Path + originalExt); err != nil || f.linked() {
		return ""
	}
	return fmt.Sprintf("%s already exists, and %s would have to be kept under that name", f.Path+originalExt, f.Name)
}

// linked reports whether the hook has its other name as well.
func (f *file) linked() bool {
	one, err := os.Lstat(f.Path)
	two, err2 := os.Lstat(f.Path + originalExt)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// form is how our lines are to stand in a hook. A hook that git ignores, for it is not executable, is not to run because
// of us.
func (f *file) form() form {
	if f.whole {
		return f.ours.form
	}
	_, shell := isShell(f.text)
	switch {
	case !f.there:
		return alone
	case shell && f.mode.Perm()&0o111 != 0:
		return among
	}
	return before
}

func (f *file) install(want Wanted) error {
	b := newBlock(f.Name, f.form(), want)
	text, at, mode := f.text, 0, f.mode
	switch {
	case f.whole:
		text, at = f.ours.around, f.ours.at
	case b.form == among:
		at, _ = isShell(text)
	default:
		text, at, mode = shebang, len(shebang), newMode
	}
	if text = text[:at] + b.String() + text[at:]; text == f.text {
		return nil
	}
	if b.form == before && !f.whole && !f.linked() {
		if err := os.Link(f.Path, f.Path+originalExt); err != nil {
			return err
		}
	}
	return write(f.Path, text, mode)
}

func (f *file) uninstall() error {
	_, err := os.Lstat(f.Path + originalExt)
	kept := err == nil
	switch {
	case !f.whole && f.there && f.linked(): // an installation was killed before it wrote ours
		return os.Remove(f.Path + originalExt)
	case !f.whole:
		return nil
	case f.ours.form == before && kept:
		return os.Rename(f.Path+originalExt, f.Path)
	case f.ours.form != among && f.ours.around == shebang:
		return os.Remove(f.Path)
	}
	return write(f.Path, f.ours.around, f.mode)
}

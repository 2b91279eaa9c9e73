package githooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"agentctl/lock"
)

// Install puts our lines into all hooks, or writes them anew where they are other ones. If a hook is not ours to write,
// unless it calls agentctl already, or is not as we wrote it, nothing is done: [*RefusedError]. Each hook changes as a
// whole, whenever we are killed, and installing again goes on from there.
func (p *HooksDir) Install(ctx context.Context, want InstallOptions) ([]Hook, error) {
	if p.notWritable == "" {
		// Git needs no such directory, and may have made none.
		if err := os.MkdirAll(p.dir, 0o777); err != nil {
			return nil, err
		}
	}
	refuses := func(f *hookFile) bool {
		if why := f.originalConflict(); why != "" {
			f.Reason = why
			return true
		}
		return f.State == Foreign || f.State == Modified
	}
	return p.update(ctx, refuses, func(f *hookFile) error { return f.install(want) })
}

// Uninstall takes our lines out, and leaves every hook as it was, to the byte and with its mode. If one is not as we wrote
// it, nothing is done: [*RefusedError].
func (p *HooksDir) Uninstall(ctx context.Context) ([]Hook, error) {
	return p.update(ctx, func(f *hookFile) bool { return f.State == Modified && !f.intact }, (*hookFile).uninstall)
}

// update does something to all hooks that are ours to write, unless one refuses it. Others who change them wait.
func (p *HooksDir) update(ctx context.Context, refuses func(*hookFile) bool, do func(*hookFile) error) ([]Hook, error) {
	if p.notWritable == "" {
		turn, err := lock.FlockForUpdate(ctx, p.dir)
		if errors.Is(err, fs.ErrNotExist) {
			return p.Status()
		}
		if err != nil {
			return nil, err
		}
		defer turn.Release()
	}
	files, err := p.readHooks()
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
	return p.readChanged(files)
}

// readChanged looks again, so that what is told is what is there.
func (p *HooksDir) readChanged(before []*hookFile) ([]Hook, error) {
	after, err := p.readHooks()
	if err != nil {
		return nil, err
	}
	for i, f := range after {
		f.Changed = f.exists != before[i].exists || f.text != before[i].text || f.mode != before[i].mode
	}
	return hooksOf(after), nil
}

// originalConflict says what is in the way of keeping a hook under its other name; "" if nothing is. That the hook itself has that
// name too is left from a call that was killed.
func (f *hookFile) originalConflict() string {
	if f.State != Missing || f.blockForm() != formChained {
		return ""
	}
	if _, err := os.Lstat(f.Path + originalExt); err != nil || f.isLinkedToOriginal() {
		return ""
	}
	return fmt.Sprintf("%s already exists, and %s would have to be kept under that name", f.Path+originalExt, f.Name)
}

// isLinkedToOriginal reports whether the hook has its other name as well.
func (f *hookFile) isLinkedToOriginal() bool {
	one, err := os.Lstat(f.Path)
	two, err2 := os.Lstat(f.Path + originalExt)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// blockForm is how our lines are to stand in a hook. A hook that git ignores, for it is not executable, is not to run because
// of us.
func (f *hookFile) blockForm() form {
	if f.intact {
		return f.block.form
	}
	_, shell := isShell(f.text)
	switch {
	case !f.exists:
		return formStandalone
	case shell && f.mode.Perm()&0o111 != 0:
		return formInserted
	}
	return formChained
}

func (f *hookFile) install(want InstallOptions) error {
	b := newBlock(f.Name, f.blockForm(), want)
	text, at, mode := f.text, 0, f.mode
	switch {
	case f.intact:
		text, at = f.block.around, f.block.offset
	case b.form == formInserted:
		at, _ = isShell(text)
	default:
		text, at, mode = shebang, len(shebang), 0
	}
	if text = text[:at] + b.String() + text[at:]; text == f.text {
		return nil
	}
	if b.form == formChained && !f.intact && !f.isLinkedToOriginal() {
		if err := os.Link(f.Path, f.Path+originalExt); err != nil {
			return err
		}
	}
	return lock.WriteFile(f.Path, text, mode, os.Rename)
}

func (f *hookFile) uninstall() error {
	_, err := os.Lstat(f.Path + originalExt)
	kept := err == nil
	switch {
	case !f.intact && f.exists && f.isLinkedToOriginal(): // an installation was killed before it wrote ours
		return os.Remove(f.Path + originalExt)
	case !f.intact:
		return nil
	case f.block.form == formChained && kept:
		return os.Rename(f.Path+originalExt, f.Path)
	case f.block.form != formInserted && f.block.around == shebang:
		return os.Remove(f.Path)
	}
	return lock.WriteFile(f.Path, f.block.around, f.mode, os.Rename)
}

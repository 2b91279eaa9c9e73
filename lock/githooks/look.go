package githooks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"agentctl/discover/storage"
)

// hookFile is a hook as it is on disk.
type hookFile struct {
	Hook
	exists bool
	mode   fs.FileMode
	text   string
	unread string      // why there is no text, if the file is no hook to be read
	block  parsedBlock // if there is something of ours that is whole
	intact bool
}

// Status returns all hooks. Errors are those of reading files.
func (p *HooksDir) Status() ([]Hook, error) {
	files, err := p.readHooks()
	return hooksOf(files), err
}

func hooksOf(files []*hookFile) []Hook {
	var out []Hook
	for _, f := range files {
		out = append(out, f.Hook)
	}
	return out
}

func (p *HooksDir) readHooks() ([]*hookFile, error) {
	var out []*hookFile
	for _, name := range Names() {
		f := &hookFile{Hook: Hook{Name: name, State: Missing, Path: filepath.Join(p.dir, name)}}
		if err := f.read(); err != nil {
			return nil, err
		}
		if err := p.classify(f); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// read reads the file. What is not a regular file has no text.
func (f *hookFile) read() error {
	info, err := os.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // core.hooksPath may be /dev/null
		return nil
	}
	if err != nil {
		return err
	}
	f.exists, f.mode = true, info.Mode()
	if f.mode.Type() == fs.ModeSymlink {
		to, err := os.Readlink(f.Path)
		f.unread = fmt.Sprintf("%s is a link to %s", f.Path, to)
		return err
	}
	text, err := storage.ReadFile(f.Path, hookLimit)
	switch {
	case errors.Is(err, storage.ErrNotRegular):
		f.unread = f.Path + " is not a regular file"
	case errors.Is(err, storage.ErrTooLarge):
		f.unread = fmt.Sprintf("%s has more than %d MiB", f.Path, hookLimit>>20)
	default:
		f.text = string(text)
		return err
	}
	return nil
}

// classify decides how a hook stands.
func (p *HooksDir) classify(f *hookFile) error {
	text := f.text
	if strings.ContainsRune(text, 0) {
		text = "" // a program: what marks a script may be anything in there
	}
	m, found, broken := findBlock(text)
	f.block, f.intact = m, found && !broken
	manager := managerOf(p.dir, text)
	switch {
	case p.notWritable != "":
		f.State, f.Reason = Foreign, p.notWritable
	case f.unread != "":
		f.State, f.Reason = Foreign, f.unread
	case broken:
		f.State, f.Reason = Modified, fmt.Sprintf("somebody has changed agentctl's lines in %s", f.Path)
		f.Advice = "remove them by hand, with the lines that enclose them, and install again"
	case f.intact && f.mode.Perm()&0o111 == 0:
		f.State, f.Reason = Modified, f.Path+" is not executable, so that git ignores it"
		f.Advice = "chmod +x " + f.Path
		f.setInstalled()
	case f.intact:
		f.State = Installed
		f.setInstalled()
	case manager.name != "":
		f.State, f.Reason = Foreign, fmt.Sprintf("%s is made by %s", f.Path, manager.name)
	}
	if f.State == Foreign {
		return p.advise(f, manager)
	}
	return nil
}

// hookLimit bounds the size of a hook, in bytes. Some hooks are programs.
const hookLimit = 64 << 20

func (f *hookFile) setInstalled() {
	f.Program, f.Merges = f.block.program(), f.block.merges()
	if info, err := os.Stat(f.Program); f.Reason == "" && (err != nil || info.Mode().Perm()&0o111 == 0) {
		f.Reason = fmt.Sprintf("%s is gone: unless agentctl is in PATH, the hook does nothing", f.Program)
		f.Advice = "agentctl hooks install sets the path of the current agentctl"
	}
	if f.block.form == formChained {
		f.Original = f.Path + originalExt
	}
}

// advise says what the user can add to a hook that is not ours to write, unless it is there already.
func (p *HooksDir) advise(f *hookFile, m manager) error {
	f.Manager = m.name
	files, advice := m.advice(p, f.Name)
	call := []byte("agentctl hooks run " + f.Name)
	f.Advice = advice
	for _, path := range files {
		text, err := storage.ReadFile(path, hookLimit)
		switch {
		case err == nil && bytes.Contains(text, call):
			f.State, f.Reason, f.Advice = Manual, path+" calls agentctl", ""
			return nil
		case err == nil || errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, storage.ErrNotRegular), errors.Is(err, storage.ErrTooLarge):
			if path == files[0] {
				if about, ok := errors.AsType[*fs.PathError](err); ok {
					err = about.Err
				}
				f.Advice = fmt.Sprintf("%s cannot be read as a hook (%v): move it away first", path, err)
			}
		case errors.Is(err, syscall.ENOTDIR):
			f.Advice = fmt.Sprintf("git runs no hooks at all: %s is not a directory; ", p.dir)
			if strings.Contains(p.notWritable, "core.hooksPath") {
				f.Advice += "unset core.hooksPath first"
			} else {
				f.Advice += "move it away first"
			}
		default:
			return err
		}
	}
	return nil
}

// isShell reports whether our lines can stand in the script: a shell reads it. So does one if there is no #! line; that
// is git's own rule (run-command.c, ENOEXEC). at is where they can stand.
func isShell(text string) (at int, ok bool) {
	if strings.ContainsRune(text, 0) {
		return 0, false
	}
	rest, is := strings.CutPrefix(text, "#!")
	if !is {
		return 0, true
	}
	first, _, ended := strings.Cut(rest, "\n")
	words := strings.Fields(first)
	if !ended || strings.HasSuffix(first, "\r") || len(words) == 0 {
		return 0, false
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return w == "-S" || strings.Contains(w, "=") })
	}
	shells := []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}
	return len("#!") + len(first) + 1, len(words) > 0 && slices.Contains(shells, filepath.Base(words[0]))
}

// manager is a program that makes the hooks of a repository, and makes them again whenever it is run: what others have
// put into them is lost then.
type manager struct {
	name string
	// signature is in every hook that it makes.
	signature string
	// configs are the files below the worktree's top in which it is told what to run, the one for agentctl first; none where that
	// is the hook itself.
	configs []string
}

// managers are those known (SEEN: husky 4.3.8 and 9.1.7, lefthook 1.13.6, simple-git-hooks 2.14.0; pre-commit by the hooks
// that repositories have of it).
func managers() []manager {
	return []manager{
		{name: "husky", signature: "husky.sh"},
		// Its own file, which lefthook merges with lefthook.yml: there the key of the hook stands already (SEEN 2.2.2).
		{"lefthook", "call_lefthook", []string{"lefthook-local.yml", "lefthook.yml"}},
		{"pre-commit", "File generated by pre-commit", []string{".pre-commit-config.yaml"}},
		{"simple-git-hooks", "SKIP_SIMPLE_GIT_HOOKS", []string{"package.json"}},
	}
}

// managerOf tells who makes a hook, by where it is and what stands in it.
func managerOf(dir, text string) manager {
	for _, m := range managers() {
		if strings.Contains(text, m.signature) || m.name == "husky" && strings.Contains(dir+"/", "/.husky/") {
			return m
		}
	}
	return manager{}
}

// advice is in which files agentctl may be called already, and what the user can do to have it called.
func (m manager) advice(p *HooksDir, hook string) (files []string, advice string) {
	if len(m.configs) > 0 && p.top != "" {
		for _, name := range m.configs {
			files = append(files, filepath.Join(p.top, name))
		}
		return files, fmt.Sprintf("in %s, have %s run: agentctl hooks run %s", files[0], m.name, hook)
	}
	dir := p.dir
	if filepath.Base(dir) == "_" && m.name == "husky" {
		dir = filepath.Dir(dir) // what is in _ it makes itself (SEEN 9.1.7)
	}
	file := filepath.Join(dir, hook)
	line := "! command -v agentctl >/dev/null || agentctl hooks run " + hook + " || exit 1" // those who do not have agentctl can work on
	if hook == prepareCommitMsg {
		line = "! command -v agentctl >/dev/null || agentctl hooks run " + hook + ` -- "$@" || :`
	}
	return []string{file}, fmt.Sprintf("add to %s: %s", file, line)
}

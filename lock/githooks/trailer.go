package githooks

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"agentctl/discover/storage"
	"agentctl/proc"
)

// trailerKey names the session in a commit's message.
const trailerKey = "Agent-Session"

// messageLimit bounds the text of a commit's message, in bytes.
const messageLimit = 16 << 20

// Message is a commit's message that git is about to use, as prepare-commit-msg is told of it (githooks(5)).
type Message struct {
	// File has the text, Source says where it is from: "message", "commit" of an older one, "merge", "squash", or
	// "template" and "" if somebody is yet to write it.
	File, Source string
	// GitPath is git's path, Environ what it runs in: the hook's own, which says which repository and index is meant.
	GitPath string
	Environ []string
}

// AcceptsTrailer reports whether a session can be named in the message: somebody has written it, and it is not that of a commit
// which is only moved (rebase, cherry-pick). One that is yet to be written must stay as it is, or git would no longer see
// that nobody did. Merges and squashes take it only if asked.
func (m Message) AcceptsTrailer(ctx context.Context, merges bool) (bool, error) {
	switch m.Source {
	case "message", "commit":
	case "merge", "squash":
		if !merges {
			return false, nil
		}
	default:
		return false, nil
	}
	out, err := m.git(ctx, nil, "rev-parse", "--git-path", "CHERRY_PICK_HEAD", "--git-path", "rebase-merge", "--git-path", "rebase-apply")
	moved := slices.ContainsFunc(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
	return err == nil && !moved, err
}

// AddTrailer names a session, as AGENT/ID, at the end of the message, unless one is named there or there is no text: git is to
// see that too.
func (m Message) AddTrailer(ctx context.Context, session string) error {
	text, err := storage.ReadFile(m.File, messageLimit)
	if err != nil {
		return err
	}
	words, err := m.git(ctx, text, "stripspace", "--strip-comments")
	if err != nil || len(words) == 0 {
		return err
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		// git merge -m ends no line, and the trailer would be taken for more of the title (SEEN git 2.39).
		if err := endLine(m.File); err != nil {
			return err
		}
	}
	// git takes "=" in an argument whatever trailer.separators says, and writes the first separator of those (SEEN git 2.39).
	_, err = m.git(ctx, nil, "interpret-trailers", "--in-place", "--no-divider", "--where", "end",
		"--if-exists", "doNothing", "--if-missing", "add", "--trailer", trailerKey+"="+session, m.File)
	return err
}

func endLine(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n")
	return errors.Join(err, f.Close())
}

// git runs where the hook does. It is asked to end when ctx does, so that it takes away what it has begun to write.
func (m Message) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.Command(m.GitPath, args...)
	cmd.Env, cmd.Stdin = m.Environ, bytes.NewReader(stdin)
	out := storage.LimitedBuffer{Limit: messageLimit}
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	if err := proc.RunJob(ctx, cmd, true, time.Second); err != nil {
		return nil, err
	}
	return out.Whole()
}

package copilot

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Read yields the records of the sessions. It reads the records from the beginning until the first prompt is known, and from the end
// until the newest turn is; all of them only for the totals of tokens.
//
// Meta keys:
//
//   - client: the program that made the session, by its own name, if it is not the agent's terminal or print mode (ACP, SDK)
//   - premiumRequests, nanoAiCredits (Full): what the provider was paid in, by the newest record of a process that ended
func (Adapter) Read(ctx context.Context, entries []discover.Entry, options discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return discover.ReadRecords(ctx, entries, readerOf(options))
}

var errNoRecords = errors.New("no session.start record: not a session of Copilot CLI, or a damaged one")

// readerOf reads one session, and what the agent notes beside its file.
func readerOf(options discover.ReadOptions) discover.FileReader {
	return func(f *storage.File, e discover.Entry, u *discover.SessionUsage) (ok bool, err error) {
		w, unreadable := readWorkspace(f.Context(), filepath.Join(filepath.Dir(e.Path), workspaceName))
		if ok, err = readFile(f, e, &w, options, u); !ok {
			return false, err
		}
		return true, errors.Join(unreadable, warning(e.Path, err))
	}
}

func readFile(f *storage.File, e discover.Entry, w *workspace, options discover.ReadOptions, u *discover.SessionUsage) (ok bool, err error) {
	var head headReader
	if err := head.Read(f); err != nil {
		return false, err
	}
	if !head.Found && (head.damaged || f.Size() > 0 && f.Size() < headLimit) {
		return false, errNoRecords
	}
	// The directory that the agent notes of the session is not changed by a resume in another one, which it needs if that one is gone.
	tail := tailReader{NeedTurnStart: options.TurnStart, NeedContext: options.Full || !storage.IsDir(cmp.Or(w.Dir, head.Context.Dir))}
	if err := tail.Read(f); err != nil {
		return false, err
	}
	u.Record = newRecord(e, &head, &tail, w)
	if u.Updated.IsZero() {
		u.Updated = f.ModTime()
	}
	if !options.Tokens && !options.Full {
		return true, tail.damage.In(f)
	}
	var t totals
	if err := t.Read(f); err != nil {
		return false, err
	}
	t.fill(u, options.Full)
	return true, t.damage.In(f)
}

// newRecord makes the record from both ends of the file and from what the agent notes beside it.
func newRecord(e discover.Entry, h *headReader, t *tailReader, w *workspace) discover.Record {
	place := t.Context
	if !place.Found {
		if place = w.sessionContext; place.Dir == "" {
			place = h.Context
		}
	}
	r := discover.Record{
		Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home,
		Dir: place.Dir, Branch: place.Branch, Title: w.title(h.Prompt), Prompt: h.Prompt, Model: cmp.Or(t.Model, h.Model),
		Version: h.Version, Created: h.Created, Updated: t.Updated, Turn: t.Turn(), ForkedFrom: h.ForkedFrom,
	}
	switch {
	case w.Client != "" && w.Client != ownClient:
		r.Source = "sdk"
		r.SetMeta("client", w.Client)
	case h.TUI:
		r.Source = "tui"
	case h.Found && h.prompted && !storage.ParseVersion(h.Version).Before(storage.ParseVersion(oldestSupported)):
		r.Source = "print"
	}
	return r
}

// workspaceName is the file in which the agent notes where a session works and what it is called.
const workspaceName = "workspace.yaml"

// workspaceLimit bounds it, in bytes; real ones have less than 1,000.
const workspaceLimit = 64 << 10

// ownClient is the client of the agent's terminal and print mode.
const ownClient = "github/cli"

// workspace is what that file says.
type workspace struct {
	sessionContext
	// Name is the first prompt, unless the user, or the provider, has given the session one. Named: the user has.
	Name, Client string
	Named        bool
}

// readWorkspace reads the file, which may be missing. The error is a warning.
func readWorkspace(ctx context.Context, path string) (w workspace, err error) {
	text, err := readPart(ctx, path, workspaceLimit, false)
	if err != nil {
		return w, warning(path, err)
	}
	return parseWorkspace(text), nil
}

// parseWorkspace parses the file: YAML with one key and scalar on each line. A text of several lines is indented below its key.
func parseWorkspace(text string) (w workspace) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ": ")
		if !ok || strings.HasPrefix(key, " ") {
			continue
		}
		if value = parseScalar(value); value == "|-" || value == "|" || value == "|+" {
			value = blockOf(lines[i+1:])
		}
		switch key {
		case "cwd":
			w.Dir = value
		case "branch":
			w.Branch = value
		case "name", "summary": // up to 1.0.12
			w.Name = value
		case "client_name":
			w.Client = value
		case "user_named":
			w.Named = value == "true"
		}
	}
	return w
}

// parseScalar decodes a scalar of one line.
func parseScalar(s string) string {
	if inner, ok := strings.CutPrefix(s, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
	}
	if strings.HasPrefix(s, `"`) {
		return storage.Value(s).Text(0)
	}
	return s
}

// blockOf returns the indented lines that a list of lines begins with.
func blockOf(lines []string) string {
	var block []string
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, "  ")
		if !ok && line != "" {
			break
		}
		block = append(block, text)
	}
	return strings.TrimRight(strings.Join(block, "\n"), "\n")
}

// title returns the name that a session with this first prompt was given; "" if it was given none.
func (w *workspace) title(prompt string) string {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	name := words(strings.TrimRight(strings.TrimSuffix(w.Name, "..."), "…"))
	if !w.Named && (strings.HasPrefix(words(prompt), name) || strings.HasPrefix(name, words(prompt))) {
		return ""
	}
	return w.Name
}

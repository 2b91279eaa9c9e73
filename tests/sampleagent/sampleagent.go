// Package sampleagent is an adapter for an agent that does not exist: docs/adding-an-agent.md explains by it what an adapter needs.
//
// The agent stores each session as JSON lines in HOME/sessions/ID.jsonl. While a process runs a session, it names it in
// HOME/run/PID.json, with the start time of the process, so that a file that a dead process has left behind proves nothing.
package sampleagent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/proc"
)

// Name is the agent's name in flags and JSON, and that of its program.
const Name discover.Agent = "sample"

// EnvSession is the variable by which the agent marks the processes that it starts.
const EnvSession = "SAMPLE_SESSION"

// limit is the most bytes that are read of a file.
const limit = 1 << 20

// Adapter implements [launch.Adapter]. What the agent cannot do is in the defaults.
type Adapter struct{ launch.Defaults }

// Name is the agent's name.
func (Adapter) Name() discover.Agent { return Name }

// Homes returns ~/.sample.
func (Adapter) Homes(from discover.HomeSources, _ *proc.Table) []discover.Home {
	return []discover.Home{{Dir: filepath.Join(from.Getenv("HOME"), ".sample"), FromUser: true}}
}

// Entries lists the transcripts by name and time.
func (Adapter) Entries(_ context.Context, homes []discover.Home, filter discover.EntryFilter) ([]discover.Entry, error) {
	var entries []discover.Entry
	for _, home := range homes {
		paths, _ := filepath.Glob(filepath.Join(home.Dir, "sessions", "*.jsonl")) // a home that does not exist holds nothing
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			e := discover.Entry{
				Agent: Name, ID: strings.TrimSuffix(filepath.Base(path), ".jsonl"), Path: path, Home: home.Dir,
				Updated: info.ModTime().UTC(), Size: info.Size(),
			}
			named := slices.Contains(filter.Refs, discover.Ref{ID: e.ID, Path: path}) || slices.Contains(filter.Refs, discover.Ref{ID: e.ID})
			if filter.Parents == nil && (filter.Refs == nil || named) && strings.HasPrefix(e.ID, filter.ID) && !e.Updated.Before(filter.Since) {
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// line is one line of a transcript.
type line struct {
	Time time.Time `json:"time"`
	Type string    `json:"type"` // start, prompt, answer, error
	Text string    `json:"text"` // of a start the working directory
}

// read returns the lines of a transcript. An unfinished last line is left out: its writer is still at work.
func read(path string) (lines []line, err error) {
	text, err := storage.ReadFile(path, limit)
	if err != nil {
		return nil, err
	}
	for part := range strings.Lines(string(text)) {
		var l line
		if strings.HasSuffix(part, "\n") && json.Unmarshal([]byte(part), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// Read yields the record of each entry.
func (Adapter) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			lines, err := read(e.Path)
			switch {
			case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
			case err != nil:
				if !yield(discover.Record{}, warning(e.Path, err)) {
					return
				}
			case !yield(record(e, lines), nil):
				return
			}
		}
	}
}

// record is what a transcript says of its session.
func record(e discover.Entry, lines []line) discover.Record {
	r := discover.Record{Agent: Name, ID: e.ID, Path: e.Path, Home: e.Home, Turn: discover.Turn{State: discover.TurnNone}}
	for i, l := range lines {
		if r.Updated = l.Time.UTC(); i == 0 {
			r.Created = r.Updated
		}
		switch l.Type {
		case "start":
			r.Dir = l.Text
		case "prompt":
			r.Turn = discover.Turn{State: discover.TurnOpen, Began: r.Updated}
			if r.Prompt == "" {
				r.Prompt = discover.Truncate(l.Text, discover.PromptLimit)
			}
		case "answer":
			r.Turn.State = discover.TurnDone
		case "error":
			r.Turn.State, r.Turn.Error = discover.TurnFailed, l.Text
		}
	}
	return r
}

// Messages yields what was said, the newest first.
func (Adapter) Messages(_ context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		lines, err := read(r.Path)
		if err != nil {
			yield(discover.Message{}, warning(r.Path, err))
			return
		}
		for i, l := range slices.Backward(lines) {
			m := discover.Message{ID: strconv.Itoa(i), Time: l.Time.UTC(), Text: l.Text, Role: discover.RoleAssistant, Kind: discover.KindText}
			switch l.Type {
			case "start":
				continue
			case "prompt":
				m.Role = discover.RoleUser
			case "error":
				m.Kind = discover.KindError
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Claims returns a presence for each process of the agent, and exact evidence for each whose pid file is its own.
func (a Adapter) Claims(_ context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	var claims []discover.Claim
	for p := range table.Candidates(proc.Signs{Name: a.MatchesBinary}) {
		dir, _ := p.Cwd() // "" where it may not be read
		claims = append(claims, discover.Claim{Agent: Name, Process: p.ID, Dir: dir})
		for _, home := range homes {
			path := filepath.Join(home.Dir, "run", strconv.Itoa(p.ID.PID)+".json")
			var own struct {
				Session string
				Start   uint64 // of the process (Linux: field 22 of /proc/PID/stat)
			}
			text, err := storage.ReadFile(path, limit)
			if err != nil || json.Unmarshal(text, &own) != nil || own.Session == "" || own.Start != p.Ticks {
				continue
			}
			claims = append(claims, discover.Claim{
				Agent: Name, Process: p.ID, Session: own.Session, Home: home.Dir, Dir: dir, Strength: discover.Exact,
				Path: filepath.Join(home.Dir, "sessions", own.Session+".jsonl"), Kind: "pid-file", Detail: path,
			})
		}
	}
	return claims, nil
}

// WatchPaths returns the transcript, and the folder in which pid files come and go.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	return []string{s.Path, filepath.Join(s.Home, "run")}
}

// MatchesBinary is by the name of the program.
func (Adapter) MatchesBinary(exe string) bool { return proc.ProgramName(exe) == string(Name) }

// warning says what could not be read.
func warning(path string, err error) error {
	return &discover.Warning{Agent: Name, Path: path, Err: err}
}

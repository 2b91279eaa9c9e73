package agents

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// home is a home of an agent with a live process, and what of it some reader opens.
type home struct {
	agent   discover.Adapter
	dir     string
	process proctest.Process
	read    []string
}

// Whatever of a home that only a process names is a link out of it, file or folder: no reader of its agent opens or lists what
// it leads to. In a home of ours, all of it is read.
func TestNoLinkLeadsOutOfASeenHome(t *testing.T) {
	for _, h := range []home{claudeHome(t), codexHome(t), copilotHome(t), openCodeHome(t)} {
		var all []string
		siblings := map[string]int{} // of many alike, two are enough
		must.Do(t, filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, err error) error {
			if rel, _ := filepath.Rel(h.dir, path); rel != "." && (slices.Contains(h.read, rel) || siblings[filepath.Dir(path)] < 2) {
				siblings[filepath.Dir(path)]++
				all = append(all, rel)
			}
			return err
		}))
		for _, want := range h.read {
			if !slices.Contains(all, want) {
				t.Fatalf("%s: no %s in %q", h.agent.Name(), want, all)
			}
		}
		entries, records := h.stored(t)
		for i, rel := range all {
			outside := filepath.Join(filepath.Dir(h.dir), "outside", filepath.Base(h.dir), "opencode/log", filepath.Base(rel))
			link, to := filepath.Join(h.dir, rel), outside
			if i%2 == 0 {
				to, _ = filepath.Rel(filepath.Dir(link), outside)
			}
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(outside), 0o700), os.Rename(link, outside), os.Symlink(to, link)))
			if opens := opened(t, outside, func() { h.readAll(t, discover.TrustSeen, entries, records) }); len(opens) > 0 {
				t.Errorf("%s: %s leads out of the home, and %q are opened", h.agent.Name(), rel, opens)
			}
			info, err := os.Stat(outside)
			must.Do(t, err)
			if slices.Contains(h.read, rel) && info.IsDir() {
				if opens := opened(t, outside, func() { h.readAll(t, discover.TrustOurs, entries, records) }); len(opens) == 0 {
					t.Errorf("%s: %s is linked in a home of ours, and nothing of it is opened", h.agent.Name(), rel)
				}
			}
			must.Do(t, errors.Join(os.Remove(link), os.Rename(outside, link)))
		}
		for _, rel := range h.read {
			if opens := opened(t, filepath.Join(h.dir, rel), func() { h.readAll(t, discover.TrustSeen, entries, records) }); len(opens) == 0 {
				t.Errorf("%s: no reader opens %s", h.agent.Name(), rel)
			}
		}
	}
}

// stored reads the home before anything in it is a link.
func (h home) stored(t *testing.T) (entries []discover.Entry, records []discover.Record) {
	t.Helper()
	entries, err := h.agent.Entries(t.Context(), []discover.Home{{Dir: h.dir}}, discover.EntryFilter{Subagents: true})
	must.Do(t, err)
	for r, err := range h.agent.Read(t.Context(), entries, discover.ReadOptions{}) {
		must.Do(t, err)
		records = append(records, r)
	}
	if len(entries) == 0 || len(records) == 0 {
		t.Fatalf("%s: %d entries, %d records", h.agent.Name(), len(entries), len(records))
	}
	return entries, records
}

// readAll has every reader of the agent read the home. What they cannot read, they say.
func (h home) readAll(t *testing.T, trust discover.Trust, entries []discover.Entry, records []discover.Record) {
	t.Helper()
	homes := []discover.Home{{Dir: h.dir, Trust: trust}}
	ctx := discover.Confine(t.Context(), homes)
	process := h.process
	process.Files = slices.Clone(process.Files)
	for i := range process.Files { // the kernel names open files by their real paths
		if real, err := filepath.EvalSymlinks(process.Files[i].Path); err == nil {
			process.Files[i].Path = real
		}
	}
	_, _ = h.agent.Claims(ctx, proctest.NewTable(process), homes)
	refs := make([]discover.Ref, 0, len(entries))
	for _, e := range entries {
		refs = append(refs, discover.Ref{ID: e.ID, Path: e.Path})
	}
	for _, q := range []discover.EntryFilter{{Subagents: true}, {ID: entries[0].ID}, {Refs: refs, Subagents: true}, {Parents: refs, Subagents: true}} {
		_, _ = h.agent.Entries(ctx, homes, q)
	}
	for _, want := range []discover.ReadOptions{{}, {Tokens: true}, {Full: true, TurnStart: true}} {
		for _, err := range h.agent.Read(ctx, slices.Clone(entries), want) {
			_ = err
		}
	}
	for _, r := range records {
		s := discover.Session{Record: &r}
		s.Trust = trust
		w := &discover.Scanner{Adapters: []discover.Adapter{h.agent}}
		for _, err := range w.Messages(t.Context(), s) {
			_ = err
		}
		_ = h.agent.WatchPaths(ctx, s)
	}
}

func claudeHome(t *testing.T) home {
	t.Helper()
	const id, parts = "11111111-1111-4111-8111-111111111111", "projects/-w/11111111-1111-4111-8111-111111111111/subagents"
	h := home{agent: agent("claude-code"), dir: filepath.Join(t.TempDir(), "claude")}
	record := func(more, kind, role string) string {
		return fmt.Sprintf(`{"parentUuid":null,%s"cwd":"/w","sessionId":"%s","version":"2.1.197","type":"%s","message":{"role":"%[3]s","content":"%s"},`+
			`"uuid":"2","timestamp":"2026-01-02T03:04:05.000Z"}`+"\n", more, id, kind, role)
	}
	put(t, h.dir, map[string]string{
		"projects/-w/" + id + ".jsonl":       record(`"isSidechain":false,"sessionKind":"bg",`, "user", "mend it"),
		parts + "/agent-abc.jsonl":           record(`"isSidechain":true,"agentId":"abc",`, "user", "look"),
		parts + "/agent-abc.meta.json":       `{"agentType":"x","requestShape":"background"}`,
		parts + "/workflows/r/agent-d.jsonl": record(`"isSidechain":true,"agentId":"d",`, "user", "look"),
		"jobs/11111111/state.json":           `{"sessionId":"` + id + `","state":"done"}`,
		"sessions/77.json": `{"pid":77,"sessionId":"` + id + `","cwd":"/w","startedAt":1767323045000,"procStart":"700","version":"2.1.197",` +
			`"entrypoint":"cli","status":"waiting","waitingFor":"permission prompt"}`,
	})
	h.process = proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: 77, Birth: "b"}, Ticks: 700, Parent: 1, Group: 77, Session: 77, State: 'S',
			Started: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Name: "claude", Exe: "/home/u/.local/share/claude/versions/2.1.197",
		},
		WorkingDir: "/w", Arguments: []string{"claude"}, Environ: map[string]string{"CLAUDE_CONFIG_DIR": h.dir},
	}
	h.read = []string{
		"projects", "projects/-w", "projects/-w/" + id, parts, parts + "/agent-abc.jsonl", parts + "/agent-abc.meta.json", parts + "/workflows",
		"jobs", "jobs/11111111/state.json", "sessions", "sessions/77.json",
	}
	return h
}

func codexHome(t *testing.T) home {
	t.Helper()
	h := home{agent: agent("codex"), dir: filepath.Join(t.TempDir(), "codex")}
	must.Do(t, os.CopyFS(h.dir, os.DirFS("../codex/testdata/30-edited-prompt")))
	put(t, h.dir, map[string]string{"session_index.jsonl": `{"id":"01a1ffee-adaf-77a0-8e39-4d756d92edfc","thread_name":"x"}` + "\n"})
	h.process = proctest.Process{
		Process:    proc.Process{ID: proc.ID{PID: 78, Birth: "b"}, Parent: 1, State: 'S', Name: "codex", Exe: "/opt/codex/bin/codex", Started: time.Now()},
		WorkingDir: "/w", Arguments: []string{"codex", "exec", "hi"}, Environ: map[string]string{"CODEX_HOME": h.dir},
	}
	h.read = []string{"session_index.jsonl", "sessions"}
	must.Do(t, filepath.WalkDir(filepath.Join(h.dir, "sessions"), func(path string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.dir, path)
		h.read = append(h.read, rel)
		return err
	}))
	return h
}

func copilotHome(t *testing.T) home {
	t.Helper()
	h := home{agent: agent("copilot"), dir: filepath.Join(t.TempDir(), "copilot")}
	must.Do(t, os.CopyFS(h.dir, os.DirFS("../copilot/testdata/15-v1.0.82")))
	const unasked = "5415bbdd-6dba-4b33-972e-30fe204cc9b8" // a process has it loaded, and it has no records
	put(t, h.dir, map[string]string{
		"logs/process-1-80.log": "", "open-sessions-state.json": `{"` + unasked + `":{}}`, "session-state/" + unasked + "/inuse.80.lock": "80",
	})
	h.process = proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: 80, Birth: "b"}, Parent: 1, State: 'S', Name: "MainThread", Exe: "/opt/copilot/copilot",
			Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		},
		WorkingDir: "/w", Arguments: []string{"copilot"}, Environ: map[string]string{"COPILOT_HOME": h.dir},
		Files: []proc.OpenFile{{FD: 0, Path: "/dev/pts/1"}, {FD: 30, Path: filepath.Join(h.dir, "logs/process-1-80.log"), Writable: true}},
	}
	h.read = []string{"session-state", "logs/process-1-80.log", "open-sessions-state.json", "session-state/" + unasked + "/workspace.yaml"}
	for _, id := range []string{"ddb5135c-1a72-4884-a4be-fd26711ace3d", "fe6b6b58-f0fa-44c9-94c3-8a94dd7d1811"} {
		h.read = append(h.read, "session-state/"+id, "session-state/"+id+"/events.jsonl", "session-state/"+id+"/workspace.yaml")
	}
	return h
}

func openCodeHome(t *testing.T) home {
	t.Helper()
	h := home{agent: agent("opencode"), dir: filepath.Join(t.TempDir(), "opencode")}
	must.Do(t, os.CopyFS(h.dir, os.DirFS("../opencode/testdata/raw-tui-permission-pending")))
	must.Do(t, os.CopyFS(h.dir, os.DirFS("../opencode/testdata/json-1.1.65-said")))
	log := filepath.Join(h.dir, "log/opencode.log")
	must.Do(t, errors.Join(os.Mkdir(filepath.Dir(log), 0o700), os.Rename(filepath.Join(h.dir, "opencode.log"), log)))
	h.process = proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: 79, Birth: "b"}, Parent: 1, State: 'S', Name: "opencode", Exe: "/opt/opencode/bin/opencode",
			Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		},
		WorkingDir: "/w", Arguments: []string{"opencode"}, Environ: map[string]string{"XDG_DATA_HOME": filepath.Dir(h.dir)},
		Files: []proc.OpenFile{{FD: 13, Path: log, Writable: true, Offset: 500}},
	}
	h.read = []string{"opencode.db", "opencode.db-wal", "log/opencode.log", "storage/session", "storage/message", "storage/part"}
	return h
}

func agent(name discover.Agent) discover.Adapter {
	i := slices.IndexFunc(All(), func(a discover.Adapter) bool { return a.Name() == name })
	return All()[i]
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
}

// opened names the files and folders at and below path that are opened while do runs (inotify(7)).
func opened(t *testing.T, path string, do func()) (names []string) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must.Do(t, err)
	defer unix.Close(fd)
	watched := map[int32]string{}
	must.Do(t, filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		wd, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
		watched[int32(wd)] = path
		return err
	}))
	buf := make([]byte, 1<<20)
	_, _ = unix.Read(fd, buf) // what was opened to be watched
	do()
	n, err := unix.Read(fd, buf)
	if errors.Is(err, unix.EAGAIN) {
		return nil
	}
	must.Do(t, err)
	for at := 0; at < n; at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:])) {
		name := strings.TrimPrefix(watched[int32(binary.NativeEndian.Uint32(buf[at:]))], path)
		if !slices.Contains(names, "."+name) {
			names = append(names, "."+name)
		}
	}
	return names
}

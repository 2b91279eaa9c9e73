package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// registryEntry is what a process says of itself in sessions/<pid>.json. The file is removed at a normal exit and left
// behind by a SIGKILL, so it counts only after validate. Since 2.1.197 it has a name, since 2.1.280 in print mode a status.
type registryEntry struct {
	PID       int    `json:"pid"`
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	// ProcStart is field 22 of /proc/PID/stat on Linux, what `ps -o lstart=` prints in UTC on macOS.
	ProcStart  string `json:"procStart"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`       // interactive, bg, daemon, daemon-worker
	Entrypoint string `json:"entrypoint"` // cli: a TUI; sdk-cli: print; sdk-ts, sdk-py, …
	Name       string `json:"name"`
	NameSource string `json:"nameSource"` // absent: the user's; auto: the agent's; derived: from the folder
	JobID      string `json:"jobId"`
	Spare      bool   `json:"spare"` // started in advance, for a background session to come (2.1.329)
	// ParkedJobID: the session continues as this background session, and the terminal shows that one, or a list of them.
	// Session and status stay what they were (2.1.329).
	ParkedJobID string `json:"parkedJobId"`
	// MessagingSocket is where the process listens for messages: of 2.1.224 and newer, if the vendor's server allows it; of 2.1.260
	// and newer unless it was turned off or failed.
	MessagingSocket string `json:"messagingSocketPath"`

	Status     string `json:"status"` // busy, waiting, idle, shell
	WaitingFor string `json:"waitingFor"`

	path string
}

// readRegistryEntry reads sessions/<pid>.json of a home. Claude Code rewrites it in place, so what follows the first JSON
// value is left over from a longer one. An entry that is not yet written does not exist.
func readRegistryEntry(ctx context.Context, home string, pid int) (registryEntry, error) {
	path := registryPath(home, pid)
	var entry registryEntry
	var malformed error
	raw, err := storage.ReadComplete(ctx, path, jsonLimit, func(raw []byte) bool {
		entry, malformed = parseRegistryEntry(raw)
		return malformed == nil
	})
	if err == nil && len(raw) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return registryEntry{}, err
	}
	entry.path = path
	return entry, malformed
}

func registryPath(home string, pid int) string {
	return filepath.Join(home, sessionsName, strconv.Itoa(pid)+".json")
}

// sessionsName is the folder of the registry entries. A process begins with a key file there, <pid>.<64 hexadecimal digits>.key,
// as soon as it has its home: before it asks anything of the user (SEEN 2.1.329-2.1.332). A teammate with a terminal of its
// own has nothing else. The file contains a secret and is never opened; its name and its time are evidence.
const (
	sessionsName = "sessions"
	keySuffix    = ".key"
)

// registry is what the names of the files in the sessions folder of a home say. A pid is that which the process has in its own
// namespace.
type registry struct {
	home    string
	entries map[int]bool
	keys    map[int]string // the path of the key file
}

// registryLimit bounds the files that are listed of a folder. Claude Code removes those of processes that have ended.
const registryLimit = 10_000

// listRegistry lists the sessions folder of a home. A missing folder is empty. The error is a warning.
func listRegistry(ctx context.Context, home string) (r registry, err error) {
	r = registry{home: home, entries: map[int]bool{}, keys: map[int]string{}}
	path := filepath.Join(home, sessionsName)
	files, err := storage.ReadDir(ctx, path)
	if len(files) > registryLimit {
		files, err = files[:registryLimit], fmt.Errorf("more than %d files", registryLimit)
	}
	for _, file := range files {
		number, rest, _ := strings.Cut(file.Name(), ".")
		pid, err := strconv.Atoi(number)
		switch {
		case err != nil || pid <= 0:
		case rest == "json":
			r.entries[pid] = true
		case strings.HasSuffix("."+rest, keySuffix):
			r.keys[pid] = filepath.Join(path, file.Name())
		}
	}
	return r, warning(path, err)
}

// hasKeyOf reports whether the process has made a key file: there is one with its pid that is not older than the process. pid is
// its PID in its own namespace. In another namespace, a process with the same PID may have made it.
func (r registry) hasKeyOf(p proc.Process, pid int) bool {
	info, err := os.Lstat(r.keys[pid])
	return err == nil && p.StartedBefore(info.ModTime())
}

func parseRegistryEntry(raw []byte) (registryEntry, error) {
	var entry registryEntry
	err := json.NewDecoder(bytes.NewReader(raw)).Decode(&entry)
	// A value of an unexpected type is left out; the others count.
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd {
		return registryEntry{}, fmt.Errorf("registry entry: %w", err)
	}
	if entry.PID <= 0 || !isUUID(entry.SessionID) {
		return registryEntry{}, errors.New("registry entry: no pid or session id in it")
	}
	return entry, nil
}

// confirmedBy reports whether something beside the pid and the start shows that p has written the entry: its name, its arguments,
// or its working directory, which it changes together with the entry (SEEN 2.1.332). If nothing does, the process has executed
// another program since, or the entry is forged.
func (r registryEntry) confirmedBy(p proc.Process) bool {
	if (Adapter{}).IsAgentProcess(p) || mentionsAgent(p) {
		return true
	}
	args, _ := p.Args()
	dir, err := p.Cwd()
	return slices.Contains(args, r.SessionID) || err == nil && r.Cwd != "" && dir == discover.RealPath(r.Cwd)
}

// validate returns an error that says why the entry is not p's but another process's. pid is the PID of p in its own namespace.
func (r registryEntry) validate(p proc.Process, pid int) error {
	ticks, err := strconv.ParseUint(r.ProcStart, 10, 64)
	switch start := p.Started.UTC().Format(time.ANSIC); {
	case r.PID != pid:
		return fmt.Errorf("it names pid %d", r.PID)
	case p.Started.IsZero():
		return errors.New("when the process started is not known")
	case err == nil && ticks != p.Ticks:
		return fmt.Errorf("procStart %s is not the process's %d", r.ProcStart, p.Ticks)
	case err != nil && r.ProcStart != start:
		return fmt.Errorf("procStart %q is not the process's %q", r.ProcStart, start)
	}
	return nil
}

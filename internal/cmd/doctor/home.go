package doctor

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
)

// homeFindings describes one home of an agent.
type homeFindings struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Trust is ours, seen or foreign; SeenIn is the process that names a seen home.
	Trust  string `json:"trust"`
	SeenIn int    `json:"seenIn,omitempty"`
	// Sessions and Children count stored sessions, Live live ones.
	Sessions int `json:"sessions"`
	Children int `json:"children"`
	// Bytes is the size of the files that hold the sessions, Formats their kinds.
	Bytes   int64    `json:"bytes"`
	Formats []string `json:"formats,omitempty"`
	Newest  string   `json:"newest,omitempty"`
	Live    int      `json:"live"`

	newest time.Time
}

func examineHome(ctx context.Context, a discover.Adapter, home discover.Home, live []discover.Session) (homeFindings, error) {
	h := homeFindings{Path: home.Dir, Trust: home.Trust.String(), SeenIn: home.SeenInPID}
	if home.FilesOnly {
		h.Path = home.Files[0]
	}
	_, err := os.Stat(h.Path)
	h.Exists = err == nil
	for _, s := range live {
		if s.Agent == a.Name() && s.Home == home.Dir && (!home.FilesOnly || s.Path == h.Path) {
			h.Live++
		}
	}
	entries, err := a.Entries(discover.Confine(ctx, []discover.Home{home}), []discover.Home{home}, discover.EntryFilter{Subagents: true})
	files := map[string]int64{}
	formats := map[string]bool{}
	for _, e := range entries {
		h.count(e)
		formats[format(e.Path)] = true
		files[e.Path] = e.Size
	}
	for path, size := range files {
		if size == 0 { // a database, which holds many
			size = sizeOf(path) + sizeOf(path+"-wal")
		}
		h.Bytes += size
	}
	h.Formats = slices.Sorted(maps.Keys(formats))
	return h, err
}

func (h *homeFindings) count(e discover.Entry) {
	if e.Parent == "" {
		h.Sessions++
	} else {
		h.Children++
	}
	if e.Updated.After(h.newest) {
		h.newest, h.Newest = e.Updated, output.Timestamp(e.Updated)
	}
}

// format returns the format of a file, by its name.
func format(path string) string {
	for suffix, name := range map[string]string{
		".jsonl": "jsonl", ".jsonl.zst": "jsonl.zst", ".json": "json", ".db": "sqlite",
	} {
		if strings.HasSuffix(path, suffix) {
			return name
		}
	}
	return "other"
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

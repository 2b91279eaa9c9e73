package claudecode

import (
	"cmp"
	"encoding/json"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native"
)

// jobLimit bounds jobs/<short>/state.json, in bytes; real ones have about 1,000.
const jobLimit = 1 << 20

// shortID is how many characters of a session id name its background job.
const shortID = 8

func short(id string) string { return id[:min(len(id), shortID)] }

func jobPath(home, id string) string { return filepath.Join(home, "jobs", short(id), "state.json") }

// jobs are the background jobs of each home: the short ids that have a folder in jobs/.
type jobs map[string]map[string]bool

func jobsOf(entries []discover.Entry) jobs {
	all := jobs{}
	for _, e := range entries {
		if _, ok := all[e.Home]; ok {
			continue
		}
		all[e.Home] = map[string]bool{}
		folders, _ := names(filepath.Join(e.Home, "jobs")) // without them the transcripts tell nearly as much
		for _, n := range folders {
			all[e.Home][n.Name()] = n.IsDir()
		}
	}
	return all
}

// complete marks a background session. Its job file also says how it ended; it is asked where the transcript
// cannot tell: while a session lives it is often wrong ("working" where the session is idle; 2.1.197, 2.1.329).
func (j jobs) complete(r *result) {
	if !r.ok {
		return
	}
	if !j[r.Home][short(r.ID)] {
		return
	}
	raw, err := native.ReadSettled(jobPath(r.Home, r.ID), jobLimit, json.Valid)
	if err != nil {
		return
	}
	var job struct {
		SessionID string `json:"sessionId"`
		State     string `json:"state"` // working, blocked, done, failed, stopped, crashed
		Detail    string `json:"detail"`
		Name      string `json:"name"`
	}
	if json.Unmarshal(raw, &job) != nil || job.SessionID != r.ID {
		return
	}
	r.Source = "bg"
	r.Title = cmp.Or(r.Title, job.Name)
	r.SetMeta(jobMeta, short(r.ID))
	if s := r.Turn.State; s != discover.TurnUnknown && s != discover.TurnNone {
		return
	}
	switch job.State {
	case "done":
		r.Turn = discover.Turn{State: discover.TurnDone}
	case "failed":
		r.Turn = discover.Turn{State: discover.TurnFailed, Error: job.Detail}
	case "stopped", "crashed":
		r.Turn = discover.Turn{State: discover.TurnInterrupted}
	}
}

package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// jobLimit bounds jobs/<short>/state.json, in bytes; real ones have about 1,000.
const jobLimit = 1 << 20

// jobIDLen is how many characters of a session ID name its background job.
const jobIDLen = 8

func jobIDOf(id string) string { return id[:min(len(id), jobIDLen)] }

func jobPath(home, id string) string { return filepath.Join(home, "jobs", jobIDOf(id), "state.json") }

// backgroundJobs are the background jobs of each home: the job IDs that have a folder in jobs/.
type backgroundJobs map[string]map[string]bool

// listJobs lists the jobs of the entries' homes. Errors are warnings.
func listJobs(ctx context.Context, entries []discover.Entry) (all backgroundJobs, errs []error) {
	all = backgroundJobs{}
	for _, e := range entries {
		if _, ok := all[e.Home]; ok {
			continue
		}
		all[e.Home] = map[string]bool{}
		dir := filepath.Join(e.Home, "jobs")
		folders, err := readDir(ctx, dir)
		if err != nil {
			errs = append(errs, warning(dir, cause(err)))
		}
		for _, n := range folders {
			all[e.Home][n.Name()] = n.IsDir()
		}
	}
	return all, errs
}

// describe marks the record of a background session and adds the name of its job. The state that the file has is often wrong
// ("working" though the session is idle; 2.1.197, 2.1.329): the transcript tells. If the file cannot be read, the record
// stays as it is. The error is a warning.
func (j backgroundJobs) describe(ctx context.Context, r *discover.Record) error {
	if !j[r.Home][jobIDOf(r.ID)] {
		return nil
	}
	path := jobPath(r.Home, r.ID)
	raw, err := fsread.ReadComplete(ctx, path, jobLimit, json.Valid)
	if fsread.IsNotExist(err) {
		return nil
	}
	var job struct {
		SessionID string `json:"sessionId"`
		Name      string `json:"name"`
	}
	if err == nil {
		err = unmarshal(raw, &job)
	}
	if err != nil || job.SessionID != r.ID {
		return asWarning(path, err)
	}
	r.Source = "bg"
	r.Title = cmp.Or(r.Title, job.Name)
	r.SetMeta(jobMeta, jobIDOf(r.ID))
	return nil
}

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

// describeJob adds what the file of a background session's job says of it: its name. The state that the file has is often wrong ("working"
// though the session is idle; 2.1.197, 2.1.329): the transcript tells. If the file cannot be read, the record stays as it is. The error is
// a warning.
func describeJob(ctx context.Context, r *discover.Record) error {
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
	r.Title = cmp.Or(r.Title, job.Name)
	r.SetMeta(jobMeta, jobIDOf(r.ID))
	return nil
}

package opencode

import (
	"bytes"
	"slices"
	"time"
)

// permissionRequest is a line of the shared log about a request for permission, such as
//
//	… message=asking id=per_1fa677ca6001SK5QCYOjgbhRYQ permission=bash patterns="[\"sleep 33\"]"
//
// The line names neither the session nor the tool call, and the user's answer is not logged (READ, SEEN 1.18.33).
type permissionRequest struct {
	at         time.Time
	permission string
}

// maxRequests is how many requests of each run are kept, the newest ones.
const maxRequests = 100

// isPermissionRequest reports whether a line of the log may be a request.
func isPermissionRequest(line []byte) bool {
	return bytes.Contains(line, []byte(" message=asking id=per_"))
}

// parsePermissionRequest parses such a line.
func parsePermissionRequest(line []byte) (run string, r permissionRequest) {
	r.at = lineTime(line)
	for key, value := range fields(string(line)) {
		switch key {
		case "run":
			run = value
		case "permission":
			r.permission = value
		}
	}
	return run, r
}

// requestLead is how long before the stored start of its tool call a request may be logged: the tool asks while the agent stores the call
// (1 ms SEEN 1.18.33). It is shorter than a user takes to answer, and the model to call the tool again.
const requestLead = 200 * time.Millisecond

// matches reports whether the request may be for a tool call that has not reported so far.
func (r permissionRequest) matches(call part) bool {
	if call.Started == 0 || r.at.Before(fromMillis(call.Started).Add(-requestLead)) {
		return false
	}
	switch r.permission {
	case "external_directory", "doom_loop": // any call may need one of these
		return true
	case "edit":
		return slices.Contains([]string{"edit", "write", "patch", "multiedit", "apply_patch"}, call.Tool)
	}
	return r.permission == call.Tool
}

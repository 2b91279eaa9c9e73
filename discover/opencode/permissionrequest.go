package opencode

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"agentctl/discover/opencode/transcript"
)

// permissionRequest is a line of the shared log about a request for permission, such as
//
//	… message=asking id=per_1fa677ca6001SK5QCYOjgbhRYQ permission=bash patterns="[\"sleep 33\"]"
//
// The line names neither the session nor the tool call, and the user's answer is not logged (READ, SEEN 1.18.33).
type permissionRequest struct {
	at         time.Time
	permission string
	patterns   string // a JSON array with its quotes escaped again, and without the escapes in its strings
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
		case "patterns":
			r.patterns = value
		}
	}
	return run, r
}

// requestLead is how long before the stored start of its tool call a request may be logged: the tool asks while the agent stores the call
// (1 ms SEEN 1.18.33). It is shorter than a user takes to answer, and the model to call the tool again.
const requestLead = 200 * time.Millisecond

// matches reports whether the request may be for a tool call that has not reported so far.
func (r permissionRequest) matches(call transcript.Part) bool {
	if call.Started == 0 || r.at.Before(transcript.Time(call.Started).Add(-requestLead)) {
		return false
	}
	switch r.permission {
	case "external_directory", "doom_loop": // any call may need one of these
		return true
	case "edit":
		return slices.Contains([]string{"edit", "write", "patch", "multiedit", "apply_patch"}, call.Tool)
	case "bash":
		return call.Tool == "bash" && r.matchesCommand(call.Command)
	}
	return r.permission == call.Tool
}

// matchesCommand reports whether all commands that the request names are in a command line.
func (r permissionRequest) matchesCommand(command string) bool {
	plain := func(text string) string {
		return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", `"`, "").Replace(text)), " ")
	}
	list := strings.TrimSuffix(strings.TrimPrefix(r.patterns, `[\"`), `\"]`)
	for pattern := range strings.SplitSeq(list, `\",\"`) {
		if !strings.Contains(plain(command), plain(pattern)) {
			return false
		}
	}
	return true
}

package claudecode

import (
	"crypto/rand"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// MatchesID reports whether an ID is a random UUID (version 4), as Claude Code makes them (SEEN 2.0–2.1.329). With
// --session-id a session may get any UUID.
func (Adapter) MatchesID(id string) bool { return isUUID(id) && id[versionAt] == '4' }

// ShortID implements [discover.IDShortener]. A sub-agent's ID is "agent-", mostly an "a", and random hexadecimal digits.
func (Adapter) ShortID(id string) int {
	if isSubagent(id) {
		return len(agentPrefix) + 1 + discover.MinShortID
	}
	return native.ShortUUIDLen(id)
}

// isUUID reports whether s has the form of a session ID: 8-4-4-4-12 lower- or upper-case hexadecimal digits.
func isUUID(s string) bool { return len(s) == uuidLen && beginsUUID(s) }

// The length of a UUID, and the index of its version.
const (
	uuidLen   = native.UUIDLen
	versionAt = 14
)

// beginsUUID reports whether a session ID can begin with s.
func beginsUUID(s string) bool { return native.IsUUIDPrefix(s, true) }

// isSubagent reports whether a session ID is a sub-agent's.
func isSubagent(id string) bool { return strings.HasPrefix(id, agentPrefix) }

// sessionOfPath returns the ID of the session whose transcript has this path, and its parent if the path shows it.
func sessionOfPath(path string) (id, parent string, ok bool) {
	if id, ok = idOfFile(path[strings.LastIndexByte(path, '/')+1:]); ok {
		parent = parentOf(path)
	}
	return id, parent, ok
}

// idOfFile returns the ID of the session whose transcript has this file name.
func idOfFile(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, transcriptSuffix)
	if !ok || !isUUID(id) && (!isSubagent(id) || len(id) == len(agentPrefix)) {
		return "", false
	}
	return id, true
}

// newUUID makes a random UUID (version 4, RFC 9562), like Claude Code's IDs.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

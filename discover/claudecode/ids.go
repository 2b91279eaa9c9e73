package claudecode

import (
	"crypto/rand"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// MatchesID reports whether an id is a random UUID (version 4), as Claude Code makes them (SEEN 2.0–2.1.329). With
// --session-id a session may be given any UUID.
func (Adapter) MatchesID(id string) bool { return isUUID(id) && id[versionAt] == '4' }

// ShortID implements [discover.Shortener]. A sub-agent's ID is "agent-", mostly an "a", and random hexadecimal digits.
func (Adapter) ShortID(id string) int {
	if isSubagent(id) {
		return len(agentPrefix) + 1 + discover.MinShortID
	}
	return native.ShortUUIDLen(id)
}

// isUUID reports whether s has the form of a session id: 8-4-4-4-12 lower- or upper-case hex digits.
func isUUID(s string) bool { return len(s) == uuidLen && beginsUUID(s) }

// A UUID's length, and where its version stands.
const (
	uuidLen   = native.UUIDLen
	versionAt = 14
)

// beginsUUID reports whether a session id can begin with s.
func beginsUUID(s string) bool { return native.IsUUIDPrefix(s, true) }

// isSubagent reports whether a session id is a sub-agent's.
func isSubagent(id string) bool { return strings.HasPrefix(id, agentPrefix) }

// sessionOfPath reads a path: the id of the session whose transcript it is, and its parent where the path tells.
func sessionOfPath(path string) (id, parent string, ok bool) {
	if id, ok = idOfFile(path[strings.LastIndexByte(path, '/')+1:]); ok {
		parent = parentOf(path)
	}
	return id, parent, ok
}

// idOfFile reads the name of a file: the id of the session whose transcript it is.
func idOfFile(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, transcriptSuffix)
	if !ok || !isUUID(id) && (!isSubagent(id) || len(id) == len(agentPrefix)) {
		return "", false
	}
	return id, true
}

// newUUID makes a random UUID (version 4, RFC 9562), as Claude Code's own ids are.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

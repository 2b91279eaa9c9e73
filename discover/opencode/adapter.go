// Package opencode reads the sessions of OpenCode (opencode.ai) and finds the live processes that run them. docs/agents/opencode.md holds
// the facts that it relies on, with the versions they were seen in.
//
// Sessions are in an SQLite database (1.2 and later) or in JSON files (before). Neither names processes. The log shows which process runs
// which session: every process appends to it, each line has the random "run" of its process, and the kernel knows the offset up to which
// each process has written.
package opencode

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Adapter implements [launch.Adapter] for OpenCode. It has no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter for OpenCode.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "opencode"

// Name returns the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// IncludesSubagents implements [discover.Adapter].
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// ShortID implements [discover.Adapter]. A session's ID begins with the time.
func (Adapter) ShortID(string) int { return len(sessionPrefix) + idTimeBits/4 }

// MatchesID implements [discover.Adapter].
func (Adapter) MatchesID(id string) bool { return isSessionID(id) && len(id) == idLength }

// newWarning returns the warning about a path that could not be read.
func newWarning(path string, err error) error {
	return discover.NewWarning(agentName, path, err)
}

// Prefixes of IDs.
const (
	sessionPrefix = "ses_"
	messagePrefix = "msg_"
	partPrefix    = "prt_"
)

// idLength is the length of an ID: the prefix, 12 hexadecimal digits for the time, and 14 random letters and digits.
const idLength = len(sessionPrefix) + 12 + 14

// isSessionID reports whether s is a session ID: "ses_" and letters and digits (SEEN 0.5–1.18). An ID has no path separator.
func isSessionID(s string) bool {
	return len(s) > len(sessionPrefix) && isSessionIDPrefix(s)
}

// isSessionIDPrefix reports whether a session ID can begin with s.
func isSessionIDPrefix(s string) bool {
	rest, ok := strings.CutPrefix(s, sessionPrefix)
	if !ok {
		return strings.HasPrefix(sessionPrefix, s)
	}
	return !strings.ContainsFunc(rest, func(c rune) bool { return (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') })
}

// idTime is a time as message IDs contain it. Session IDs contain its complement, so that they sort newest first.
func idTime(t time.Time) uint64 { return uint64(t.UnixMilli()) << 12 & idTimeMask }

// idRange is a range of IDs: from ≤ ID < to.
type idRange struct{ from, to string }

// idRanges returns the IDs between two times: one range, or two if the time wraps around between them.
func idRanges(prefix string, from, to uint64) []idRange {
	first, end := fmt.Sprintf("%s%012x", prefix, from), fmt.Sprintf("%s%012x~", prefix, to)
	if from > to {
		return []idRange{{first, prefix + "~"}, {prefix, end}}
	}
	return []idRange{{first, end}}
}

// sessionIDsSince returns the IDs of the sessions that began at or after t.
func sessionIDsSince(t time.Time) []idRange {
	last := ^idTime(t) & idTimeMask
	return idRanges(sessionPrefix, (last-idTimeMask/2)&idTimeMask, last)
}

// messageIDsSince returns the IDs of the messages that were made at or after t.
func messageIDsSince(t time.Time) []idRange {
	first := idTime(t)
	return idRanges(messagePrefix, first, (first+idTimeMask/2)&idTimeMask)
}

// idTimeBits is the size of the time in an ID: milliseconds times 4096 plus a counter, cut to 48 bits, which repeat every 795 days.
// Message IDs contain that number in hexadecimal, session IDs its complement.
const (
	idTimeBits = 48
	idTimeMask = 1<<idTimeBits - 1
)

// idMillis is the part of a time in milliseconds that an ID has.
const idMillis = idTimeMask >> 12

// messageIDMillis returns the time in a message's ID; false if there is none.
func messageIDMillis(id string) (ms uint64, ok bool) {
	rest, ok := strings.CutPrefix(id, messagePrefix)
	if !ok || len(rest) < idTimeBits/4 {
		return 0, false
	}
	counted, err := strconv.ParseUint(rest[:idTimeBits/4], 16, idTimeBits)
	return counted >> 12, err == nil
}

// messageIDTime returns the time in a message's ID, in milliseconds; 0 if there is none. An ID has only the lower bits of a time. The result
// is the latest time with these bits that is not after another message's time, before. If it is more than a month earlier, the message is
// a copy (`--fork`) whose ID was made later, and the result is before.
func messageIDTime(id string, before int64) int64 {
	const month = 31 * 24 * int64(time.Hour/time.Millisecond)
	ms, ok := messageIDMillis(id)
	if !ok {
		return 0
	}
	since := int64((uint64(before) - ms) & idMillis)
	if since > month {
		return before
	}
	return before - since
}

// isCopied reports whether a message was copied (`--fork`) into a session that was created at a time, in milliseconds: the message is older,
// and its ID is not. The clock may have been set back, so that a message of the session itself is older, too.
func isCopied(id string, at, created int64) bool {
	made, ok := messageIDMillis(id)
	return at > 0 && at < created && (!ok || (made-uint64(created))&idMillis < idMillis/2)
}

// fromMillis converts milliseconds since 1970; zero for 0 and less.
func fromMillis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// MatchesBinary implements [discover.Adapter]. It also says which processes are worth a look, by a path, a short name or a first argument.
func (Adapter) MatchesBinary(exe string) bool { return strings.Contains(exe, "opencode") }

// oldestSupported is the oldest version whose processes agentctl looks into, launches and resumes. It reads what older ones have stored.
const oldestSupported = "1.14"

// versionOf reads the version of a binary from the manifest of the npm package that it is in; zero if it is in none. The name of the package
// says which generation it is: opencode-ai and opencode-linux-x64 are OpenCode 1, @opencode/cli and @opencode/cli-linux-x64 OpenCode 2 (READ
// 2.0.26).
func versionOf(path string) (version storage.Version, g generation) {
	isV1 := func(name string) bool { return strings.HasPrefix(name, "opencode-") }
	name, version := storage.NPMPackage(path, 2, func(name string) bool { return isV1(name) || strings.HasPrefix(name, "@opencode/cli") })
	switch {
	case isV1(name):
		g = generation1
	case name != "":
		g = generation2
	}
	return version, g
}

// newestTried is the newest version in docs/support.md.
const newestTried = "1.18.33"

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ReadInSource: readInSource, ProgramVersion: programVersion, UnknownKinds: unknownKinds,
	}
}

func programVersion(path string) string {
	version, _ := versionOf(path)
	return version.String()
}

func unknownKinds(ctx context.Context, r discover.Record) ([]string, error) {
	if isLegacyPath(r.Path) {
		return nil, nil // no version writes them any more
	}
	return readDatabase(ctx, r.Home, r.Path, func(d *database) []string { return unknownPartTypes(d.messages(r.ID)) })
}

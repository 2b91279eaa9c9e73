package completion

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/host"
	"agentctl/internal/output"
)

const (
	// hostTime bounds how long a host may take to answer: the user has pressed Tab and waits.
	hostTime = 5 * time.Second
	// maxAnswer bounds the answer of a host, in bytes.
	maxAnswer = 4 << 20
)

// hostOf returns the host whose sessions complete the typed ID, and what precedes the ID: that of H:ID, or the only one of --host. ok is false
// if it is this machine.
func hostOf(f cmdutil.Factory, verb *cli.Command, words []string, typed string) (t host.Target, prefix string, ok bool) {
	if cmdutil.FlagOf(verb, "host") == nil {
		return t, "", false
	}
	name, _, named := strings.Cut(typed, ":")
	if prefix = name + ":"; !named {
		name, prefix = flagValue(verb, words, "host"), ""
	}
	if host.CheckName(name) != nil {
		return t, "", false
	}
	c, _, err := f.Settings(false)
	if err != nil {
		return t, "", false
	}
	t, err = f.Target(c, name)
	return t, prefix, err == nil
}

// flagValue returns the last value of a flag before the last word; "" if there is none.
func flagValue(verb *cli.Command, words []string, flag string) (value string) {
	for i := 1; i < len(words)-1; i++ {
		if name, prefix, ok := pendingFlag(verb, words[:i+1]); ok && name == flag {
			value = strings.TrimPrefix(words[i], prefix)
		}
	}
	return value
}

// hostCandidates returns the sessions of a filter on a host, in the order of `list` there; none if it does not answer in time.
func hostCandidates(ctx context.Context, f cmdutil.Factory, t host.Target, prefix string, filter discover.SessionFilter) []candidate {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	t.ConnectTimeout = min(t.ConnectTimeout, hostTime)
	args := []string{"list", "--json", "-n", strconv.Itoa(maxSessions)}
	if filter.IncludeStopped {
		args = append(args, "--all")
	}
	for _, status := range filter.Statuses {
		args = append(args, "--status", string(status))
	}
	_, answer, err := f.AskHost(ctx, t, maxAnswer, args...)
	var sessions []output.Session
	if err != nil || json.Unmarshal(answer, &sessions) != nil {
		return nil
	}
	var out []candidate
	for i, s := range sessions {
		if s.ID != nil {
			out = append(out, sessionCandidate(prefix+*s.ID, &sessions[i]))
		}
	}
	return out
}

package discover

import (
	"cmp"
	"context"

	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Tried is what an adapter was tried with. The zero value: nothing is known of that.
type Tried struct {
	// Newest is the newest version of the agent in docs/support.md.
	Newest string
	// ProgramVersion returns the version of a program, by its path; "" where that does not show it.
	ProgramVersion func(path string) string
	// UnknownKinds returns the kinds that the adapter does not know among a session's newest records. It reads a bounded part of
	// them. What has vanished is no error; other errors are [Warning]s.
	UnknownKinds func(context.Context, Record) ([]string, error)
}

// NewerVersion returns the version of the agent that runs a live session, if it is newer than the newest tried one; else "". The
// stored version may be that of the program that created the session, so it is the last resort.
func (t Tried) NewerVersion(s Session) string {
	version := s.Version
	for _, p := range s.Processes {
		version = cmp.Or(t.ProgramVersion(p.Exe), version)
	}
	return native.IfNewer(version, t.Newest)
}

// UnknownLineKinds is [Tried.UnknownKinds] of sessions that are files of JSON objects. kindOf returns the kind of an object; known are
// the known ones, each between two spaces.
func UnknownLineKinds(known string, kindOf func(jsonl.Object) string) func(context.Context, Record) ([]string, error) {
	return func(ctx context.Context, r Record) ([]string, error) {
		kinds := native.Kinds{Known: known}
		if err := kinds.AddLines(ctx, r.Path, kindOf); err != nil {
			return kinds.Unknown, &Warning{Agent: r.Agent, Path: r.Path, Err: fsread.WithoutPath(r.Path, err)}
		}
		return kinds.Unknown, nil
	}
}

// UnknownKinds returns the kinds that the session's adapter does not know among the session's newest records. The error is a
// [Warning].
func (scanner *Scanner) UnknownKinds(ctx context.Context, s Session) ([]string, error) {
	tried := AdapterOf(scanner.Adapters, s.Agent).Tried()
	if s.Path == "" || tried.UnknownKinds == nil {
		return nil, nil
	}
	return tried.UnknownKinds(confineToSession(ctx, s), *s.Record)
}

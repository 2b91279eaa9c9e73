package claudecode

import (
	"context"
	"iter"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// Messages implements [discover.MessageReader]. It reads the transcript from its end. Which records become which messages is
// described in docs/agents/claude-code.md.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		if r.Path == "" {
			return // no prompt was given yet
		}
		f, err := fsread.Open(ctx, r.Path)
		if err != nil {
			yield(discover.Message{}, warning(r.Path, cause(err)))
			return
		}
		defer f.Close()
		for m, err := range transcript.Messages(f, isSubagent(r.ID)) {
			if err != nil {
				err = warning(r.Path, cause(err))
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

package pi

import (
	"cmp"
	"context"
	"iter"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Read yields one record for each session. It reads a file from its beginning to the first prompt, and from its end back to the prompt of
// the newest turn. It reads it whole for totals of tokens and for ReadOptions.Full.
//
// Meta keys:
//
//   - provider: of the model
//   - thinkingLevel: as it was set last
//   - turns (Full): the number of prompts
func (Adapter) Read(ctx context.Context, entries []discover.Entry, options discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return discover.ReadRecords(ctx, entries, readerOf(options))
}

// readerOf reads one session. It is not ok if the file is empty: Pi creates it before it writes.
func readerOf(options discover.ReadOptions) discover.FileReader {
	return func(f *storage.File, e discover.Entry, u *discover.SessionUsage) (ok bool, err error) {
		h, err := readHead(f)
		if err != nil || !h.found {
			return false, err
		}
		t := tail{headEnd: h.end, damage: h.damage}
		if err := t.read(f); err != nil {
			return false, err
		}
		whole := totals{created: h.Created, forked: h.ForkedFrom != ""}
		if options.Tokens || options.Full {
			if err := whole.read(f); err != nil {
				return false, err
			}
			u.Usage, t.named, t.Name = whole.usage, true, whole.name
		}
		fill(&u.Record, e, f, &h, &t)
		if options.Tokens || options.Full {
			whole.fill(&u.Record, options.Full)
			return true, whole.damage.In(f)
		}
		return true, t.damage.In(f)
	}
}

// fill makes the record of both ends of a file.
func fill(r *discover.Record, e discover.Entry, f *storage.File, h *head, t *tail) {
	model := cmp.Or(t.answered, t.selected, h.modelChange)
	*r = discover.Record{
		Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home, Dir: h.Dir, Title: t.Name, Prompt: h.Prompt, Model: model.Model,
		Created: h.Created, Updated: t.Updated, Turn: t.turn.Turn, ForkedFrom: h.ForkedFrom,
		Meta: discover.Facts{"provider": model.Provider, "thinkingLevel": t.Thinking}.WithoutEmpty(),
	}
	if r.Title == "" && !t.named {
		r.Title = h.Name
	}
	switch {
	case r.Updated.IsZero():
		r.Updated = f.ModTime()
	case r.Updated.Before(r.Created): // all of it was copied
		r.Updated = r.Created
	}
}

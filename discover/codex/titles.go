package codex

import (
	"context"
	"path/filepath"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// titlesFile contains the names that the user gave to threads, one record a line, the newest last. It does not exist before the first
// name. A rollout does not contain the name of its thread.
const titlesFile = "session_index.jsonl"

// titlesLimit is the number of bytes that are read from its end: some hundred thousand names.
const titlesLimit = 16 << 20

// titleLimit is the most characters of a name.
const titleLimit = 1000

// readTitles returns the names of a home's threads by thread ID.
func readTitles(ctx context.Context, home string) (map[string]string, error) {
	path := filepath.Join(home, titlesFile)
	f, err := fsread.Open(ctx, path)
	if fsread.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, warn(path, err)
	}
	defer f.Close()
	titles := map[string]string{}
	_, err = f.Backward(titlesLimit, func(l fsread.Line) bool {
		if id, name, ok := parseTitle(l.Bytes); ok {
			if _, newer := titles[id]; !newer {
				titles[id] = name
			}
		}
		return true
	})
	if err != nil {
		return titles, warn(path, err)
	}
	return titles, nil
}

func parseTitle(line []byte) (id, name string, ok bool) {
	o := jsonl.Object(line)
	id, name = o.Get("id").Text(titleLimit), o.Get("thread_name").Text(titleLimit)
	return id, name, isThreadID(id) && o.Complete()
}

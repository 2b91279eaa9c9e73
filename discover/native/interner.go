package native

import (
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// InternerOf returns the interner that b keeps from one file to the next; nil where b is nil.
func InternerOf(b *fsread.Buffers) *jsonl.Interner {
	if b == nil {
		return nil
	}
	return fsread.Reuse[jsonl.Interner](b)
}

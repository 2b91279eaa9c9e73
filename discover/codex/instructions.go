package codex

import (
	"bytes"
	"slices"

	"agentctl/discover/native"
)

// Every rollout begins with the agent's own instructions: 11 to 24 KB in its first record, the same in all rollouts of one
// version and model (SEEN 0.104, 0.169), and of no use here. Where one begins as another one did, and has the same end of
// them in the very place where that one has it, what lies between is not read, and what was compared is not looked at again:
// that is most of what would be read of a rollout's beginning.

// instructions are what was seen of one text, as it stands in the record.
type instructions struct {
	begin []byte
	end   []byte // from a space on, so that no escape sequence is cut; with the closing quote
	size  int    // of all, in bytes
	next  int    // how much was looked at from the end on, in the rollout before
}

func (t instructions) same(as instructions) bool {
	return t.size == as.size && bytes.Equal(t.begin, as.begin) && bytes.Equal(t.end, as.end)
}

// seen are the texts that were met last, the newest first, and memory to look for them in.
type seen struct {
	texts []instructions
	room  [firstPage + mostNext]byte
}

const (
	// seenTexts is how many are remembered: several versions and models may have been in use at a time.
	seenTexts = 4
	// firstPage is what is read to find out whether the text is a known one, mostNext the most that is read from the end of one.
	firstPage, mostNext = page, 16 << 10
	page                = 4 << 10
	// beginSize and endSize are how much of a text is compared; a text of less than leastSize is not worth it.
	beginSize, endSize, leastSize = 3 << 10, 512, 8 << 10
)

// without is the rollout with no more of its instructions than their end, and where that begins, if they are known; else it is
// the rollout itself.
func (s *seen) without(f *native.File) (brief *native.File, rest int) {
	if len(s.texts) == 0 {
		return f, 0
	}
	if all, err := f.AtHand(); all || err != nil {
		return f, 0
	}
	if _, err := f.ReadAt(s.room[:firstPage], 0); err != nil {
		return f, 0
	}
	at := textAt(s.room[:firstPage])
	if at < 0 {
		return f, 0
	}
	for i, t := range s.texts {
		if !bytes.HasPrefix(s.room[at:firstPage], t.begin) {
			continue
		}
		resume := at + t.size - len(t.end)
		rest := s.room[firstPage : firstPage+min((resume+t.next)/page*page+page-resume, mostNext)] // the last page is read whole
		n, _ := f.ReadAt(rest, int64(resume))
		if !bytes.HasPrefix(rest[:n], t.end) {
			continue // another text of the same beginning
		}
		copy(s.texts[1:i+1], s.texts[:i])
		s.texts[0] = t
		return f.Spliced(append(s.room[:at], rest[:n]...), int64(resume+n)), at
	}
	return f, 0
}

// looked notes how much was looked at from the end of the newest text on: the next rollout is mostly alike. Where the record
// goes on without an end, nothing was.
func (s *seen) looked(n int) {
	s.texts[0].next = min(max(n, endSize), mostNext)
}

// learn remembers the instructions in a rollout's first record.
func (s *seen) learn(line []byte) {
	at := textAt(line)
	if at < 0 || len(line)-at < leastSize {
		return
	}
	text := native.Value(line[at-1:]).Raw()
	if len(text) < leastSize {
		return
	}
	text = text[1:] // but its closing quote belongs to its end
	end := bytes.IndexByte(text[len(text)-endSize:], ' ')
	if end < 0 {
		return
	}
	t := instructions{text[:beginSize], text[len(text)-endSize+end:], len(text), endSize}
	if slices.ContainsFunc(s.texts, t.same) {
		return // a short rollout is read whole all the same
	}
	t.begin, t.end = bytes.Clone(t.begin), bytes.Clone(t.end)
	if len(s.texts) < seenTexts {
		s.texts = append(s.texts, instructions{})
	}
	copy(s.texts[1:], s.texts)
	s.texts[0] = t
}

// textAt is where the text of the instructions begins in a rollout's first bytes; -1 if that cannot be told.
func textAt(first []byte) int {
	const key, near = `,"base_instructions":{"text":"`, 2 << 10
	at := bytes.Index(first[:min(len(first), near)], []byte(key))
	if at < 0 {
		return -1
	}
	return at + len(key)
}

package codex

import (
	"bytes"

	"agentctl/discover/native"
)

// Every rollout begins with the agent's own instructions: 11 to 24 KB in its first record, the same in all rollouts of one
// version and model (SEEN 0.104, 0.169), and of no use here. Where one begins as another one did, and has the same end of
// them in the very place where that one has it, what lies between is not read: that is most of what would be read of
// a rollout's beginning.

// instructions are what was seen of one text, as it stands in the record.
type instructions struct {
	begin []byte // up to a space, so that no escape sequence is cut
	end   []byte // from a space on, with the closing quote
	size  int    // of all, in bytes
	next  int    // how much was looked at from the end on, in the rollout before
}

// seen are the texts that were met last, the newest first, and memory to look for them in.
type seen struct {
	texts []instructions
	room  [firstPage + mostNext]byte
}

const (
	// seenTexts is how many are remembered: several versions and models may have been in use at a time.
	seenTexts = 4
	// firstPage is what is read to find out whether the text is a known one, and so much is read behind it then.
	firstPage, leastNext, mostNext = 4 << 10, 4 << 10, 16 << 10
	// beginSize and endSize are how much of a text is compared; a text of less than leastSize is not worth it.
	beginSize, endSize, leastSize = 3 << 10, 512, 8 << 10
)

// without is the rollout without the middle of its instructions, and where what follows that begins, if they are known; else
// it is the rollout itself.
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
		join, resume := at+len(t.begin), int64(at+t.size-len(t.end))
		n, _ := f.ReadAt(s.room[join:join+t.next], resume)
		if !bytes.HasPrefix(s.room[join:join+n], t.end) {
			continue // another text of the same beginning
		}
		copy(s.texts[1:i+1], s.texts[:i])
		s.texts[0] = t
		return f.Spliced(s.room[:join+n], resume+int64(n)), join
	}
	return f, 0
}

// looked notes how much of what follows the middle of the newest text was looked at: the next rollout is mostly alike.
func (s *seen) looked(n int) {
	const page = 4 << 10
	s.texts[0].next = min(max((n+page-1)/page*page, leastNext), mostNext)
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
	begin := bytes.LastIndexByte(text[:beginSize], ' ') + 1
	end := bytes.IndexByte(text[len(text)-endSize:], ' ')
	if begin == 0 || end < 0 {
		return
	}
	t := instructions{bytes.Clone(text[:begin]), bytes.Clone(text[len(text)-endSize+end:]), len(text), leastNext}
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

package storage

import (
	"strings"
)

// maxDistance is the most lines in which two texts may differ for DiffLines to count them: the time grows with its square.
const maxDistance = 2000

// DiffLines returns how many lines the shortest edit script from one text to another adds and removes. ok is false if that is too much
// work to find out.
func DiffLines(before, after string) (added, removed int, ok bool) {
	a, b := splitLines(before), splitLines(after)
	// Myers' greedy algorithm, of which only the distance is needed: furthest[k] is the furthest line of a that a script of distance d
	// reaches on diagonal k, which is the number of lines removed without those added.
	furthest := map[int]int{1: 0}
	for d := 0; d <= min(len(a)+len(b), maxDistance); d++ {
		for k := -d; k <= d; k += 2 {
			x := furthest[k-1] + 1
			if k == -d || k != d && furthest[k-1] < furthest[k+1] {
				x = furthest[k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			if furthest[k] = x; x >= len(a) && x-k >= len(b) {
				return (d - k) / 2, (d + k) / 2, true
			}
		}
	}
	return 0, 0, false
}

// CountLines returns the number of lines of a text. The last one need not be terminated.
func CountLines(text string) int { return len(splitLines(text)) }

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// EditKeys are the names that an agent's edit tools give the text to replace, its replacement, and whether each occurrence is replaced.
type EditKeys struct{ Old, New, All string }

// DiffLines returns how many lines a call adds and removes by its input: {OLD:TEXT,NEW:TEXT,ALL:BOOL}, or {"edits":[…]} with several of
// them. ok is false if the input does not say: each occurrence of a text is replaced, or all that a file contains.
func (k EditKeys) DiffLines(input Object) (added, removed int, ok bool) {
	edits := []Object{input}
	if list := input.Get("edits"); list != nil {
		edits = nil
		for e := range list.Elements() {
			edits = append(edits, e.Object())
		}
	}
	for _, e := range edits {
		before, after := e.Get(k.Old).Text(0), e.Get(k.New)
		if all := e.Get(k.All); before == "" || after == nil || len(all) > 0 && all[0] == 't' {
			return 0, 0, false
		}
		plus, minus, counted := DiffLines(before, after.Text(0))
		if !counted {
			return 0, 0, false
		}
		added, removed = added+plus, removed+minus
	}
	return added, removed, len(edits) > 0
}

// PatchHeader is the first line of a patch for the tool apply_patch, which has the same form in Codex and OpenCode. A patch may be part
// of a command.
const PatchHeader = "*** Begin Patch"

// Patch is what a patch changes.
type Patch struct {
	Files          []string
	Added, Removed int // lines
	// DeletesFiles: the lines of deleted files are not in the patch, and not in Removed.
	DeletesFiles bool
}

// ParsePatch parses the first patch in a text. Without one, the result is empty.
func ParsePatch(text string) (p Patch) {
	_, patch, _ := strings.Cut(text, PatchHeader)
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, header := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if file, ok := strings.CutPrefix(line, header); ok {
				p.Files = append(p.Files, file)
				p.DeletesFiles = p.DeletesFiles || header == "*** Delete File: "
			}
		}
		switch {
		case len(p.Files) == 0:
		case strings.HasPrefix(line, "+"):
			p.Added++
		case strings.HasPrefix(line, "-"):
			p.Removed++
		}
	}
	return p
}

// Questions returns the texts in the input of a tool call that asks the user something. It has the same form in all
// agents: {"questions":[{"question":TEXT,…},…]}. Any other input has none.
func Questions(input Object) (texts []string) {
	for q := range input.Get("questions").Elements() {
		if text := q.Object().Get("question"); text != nil {
			texts = append(texts, text.Text(0))
		}
	}
	return texts
}

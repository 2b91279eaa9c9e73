package native

import "strings"

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

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// documentBlock is a fenced block of a document that a reader is meant to copy.
type documentBlock struct {
	// ID names the block: the document, the heading above it as in a link, and its number below that heading ("docs/cli.md:list/1").
	ID string
	// Language is what follows the fence: "sh", "toml", "yaml", or "console" for a shell session whose commands begin with "$ ".
	Language string
	// Text is the content as printed.
	Text string
}

// Commands are the command lines of a shell's block, without those that hold a comment only.
func (b documentBlock) Commands() []string {
	var out []string
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSuffix(line, "\n")
		if b.Language == "console" {
			var command bool
			if line, command = strings.CutPrefix(line, "$ "); !command {
				continue
			}
		}
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// Line is the only command of the block that contains a text.
func (b documentBlock) Line(text string) (string, error) {
	found := ""
	for _, line := range b.Commands() {
		if !strings.Contains(line, text) {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%s: two lines contain %q", b.ID, text)
		}
		found = line
	}
	if found == "" {
		return "", fmt.Errorf("%s: no line contains %q", b.ID, text)
	}
	return found, nil
}

// readBlocks returns the blocks of README.md and docs/*.md below root, the module's folder. It leaves out usage lines and sample output
// (no language and no "$ "), and JSON, which other tests hold against the schema.
func readBlocks(root string) ([]documentBlock, error) {
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var out []documentBlock
	for _, name := range append([]string{filepath.Join(root, "README.md")}, names...) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		document, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		found, err := parseBlocks(filepath.ToSlash(document), string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, errors.New("no block in any document")
	}
	return out, nil
}

// findBlock returns the block with an ID.
func findBlock(root, id string) (documentBlock, error) {
	blocks, err := readBlocks(root)
	if err != nil {
		return documentBlock{}, err
	}
	for _, b := range blocks {
		if b.ID == id {
			return b, nil
		}
	}
	return documentBlock{}, fmt.Errorf("no document has the block %s", id)
}

func parseBlocks(document, text string) ([]documentBlock, error) {
	var out []documentBlock
	heading, count, open := "", 0, false
	var current documentBlock
	for line := range strings.Lines(text) {
		fence, isFence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case isFence && !open:
			current, open = documentBlock{Language: fence}, true
		case isFence:
			open = false
			if current.Language == "" && strings.HasPrefix(current.Text, "$ ") {
				current.Language = "console"
			}
			if current.Language == "" || strings.HasPrefix(current.Language, "json") {
				continue
			}
			count++
			current.ID = fmt.Sprintf("%s:%s/%d", document, heading, count)
			out = append(out, current)
		case open:
			current.Text += line
		case strings.HasPrefix(line, "#"):
			heading, count = headingAnchor(line), 0
		}
	}
	if open {
		return nil, fmt.Errorf("%s: a fenced block is not closed", document)
	}
	return out, nil
}

// headingAnchor is the name that a link to a heading has.
func headingAnchor(heading string) string {
	words := strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, words)
}

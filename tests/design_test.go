package tests_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinksOfDocuments checks that the files and headings that the documents link to exist.
func TestLinksOfDocuments(t *testing.T) {
	documents, links := markdown(t), 0
	for name, text := range documents {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join("..", to)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !hasHeading(documents[to], anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links found: the test looks in the wrong place", links)
	}
}

// markdown is the module's documents by their paths.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	documents := map[string]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		documents[filepath.ToSlash(name[len("../"):])] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// hasHeading reports whether a document has an anchor: its own, or that of a heading as GitHub makes it, in small letters, with - for
// blanks and without punctuation.
func hasHeading(text, anchor string) bool {
	if strings.Contains(text, `id="`+anchor+`"`) {
		return true
	}
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			heading = regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			if strings.ReplaceAll(heading, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

// TestReadmeNamesTestedVersions: README.md names the newest version of each agent that docs/support.md has been tested with.
func TestReadmeNamesTestedVersions(t *testing.T) {
	documents := markdown(t)
	newest := regexp.MustCompile(`(?m)^## [a-z-]+\n\n\| version .*\n\|[-|]+\n\| ([0-9.]+) `).FindAllStringSubmatch(documents["docs/support.md"], -1)
	if len(newest) < 3 {
		t.Fatalf("%d agents in docs/support.md", len(newest))
	}
	for _, m := range newest {
		if !strings.Contains(documents["README.md"], m[1]) {
			t.Errorf("README.md does not name the version %s", m[1])
		}
	}
}

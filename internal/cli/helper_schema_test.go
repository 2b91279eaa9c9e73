package cli

import (
	"os"
	"testing"

	"agentctl/tests/schema"
)

// Doc returns a page of the documentation.
func Doc(t *testing.T, name string) string {
	t.Helper()
	for _, top := range []string{"../..", "../../.."} {
		text, err := os.ReadFile(top + "/docs/" + name)
		if err == nil {
			return string(text)
		}
	}
	t.Fatalf("there is no docs/%s", name)
	return ""
}

// CheckSchema fails the test unless text is JSON that the schema's part takes.
func CheckSchema(t *testing.T, part, text string) {
	t.Helper()
	if err := schema.Check(part, text); err != nil {
		t.Error(err)
	}
}

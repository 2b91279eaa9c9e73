package export_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"agentctl/internal/export"
	"agentctl/internal/object"
)

// No text can end its quote or its code block, or be a heading of the document: whatever is said, the blocks are the same.
func TestNoTextLeavesItsBlock(t *testing.T) {
	blocks := func(t interface{ Fatal(...any) }, said string) string {
		var b bytes.Buffer
		id, quiet := "s", said+"\nx"
		e := object.Export{Session: object.Session{ID: &id, Adapter: "codex", Status: "idle", Title: "a title"}, Messages: []object.Message{
			{Role: "user", Kind: "text", Text: &quiet},
			{Role: "assistant", Kind: "tool", Tool: &object.ToolCall{Name: "a" + said, Brief: "b" + said, Output: &quiet, State: "done"}},
			{Role: "assistant", Kind: "text", Text: &quiet},
		}}
		if err := export.Markdown(&b, []object.Export{e}); err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for n := goldmark.DefaultParser().Parse(text.NewReader(b.Bytes())).FirstChild(); n != nil; n = n.NextSibling() {
			kind := n.Kind().String()
			if h, ok := n.(*ast.Heading); ok {
				kind += string(rune('0' + h.Level))
			}
			kinds = append(kinds, kind)
		}
		return strings.Join(kinds, " ")
	}
	want := "Heading1 List Heading2 Blockquote Heading2 Paragraph Paragraph FencedCodeBlock Blockquote"
	if got := blocks(t, "plain"); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	pieces := append(hostile(), "\n", "\n\n", "> ", "- ", "    ", "```", "~~~", "````", "`", "*", "[a]: b\n", "# ", "===", "---", "|", "\t", "1. ", "\\")
	said := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 1, 8).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		if s := said.Draw(t, "said"); blocks(t, s) != want {
			t.Errorf("%q: %s", s, blocks(t, s))
		}
	})
}

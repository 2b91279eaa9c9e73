// Package manual makes the manual's pages from docs/cli.md: text for `agentctl help COMMAND`, and man(7) for `man agentctl-COMMAND`.
//
// The Markdown is a subset: paragraphs, tables, lists, code blocks; in texts code, bold and italic words, links and anchors.
package manual

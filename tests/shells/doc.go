// Package shells tests the completion scripts in real shells, by what a person types in a terminal: words, Tab and Enter. Bash is
// the machine's; zsh and fish are unpacked into the cache by [agentctl/tests/debian], elsewhere they are the machine's too.
package shells

// Package realagents holds the tests on real agents: the pinned releases from npm, each in a private world with a
// model on loopback, in a network namespace that has nothing else.
package realagents

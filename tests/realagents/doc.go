// Package realagents holds the tests on real agents: the pinned releases from npm, each in a private world with a
// model on loopback, in namespaces that have no other process and no other network.
package realagents

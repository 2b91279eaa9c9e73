// Package e2e runs agentctl as people and scripts do, beside scripted agents that leave on disk and in the process
// table what the real ones leave there. It has tests only: the scripts in testdata say what each of them guards; the
// commands they use beside testscript's own are in commands_test.go and beside it, what a prompt can tell a fake that
// agentctl launches is in fake_turn_test.go.
package e2e

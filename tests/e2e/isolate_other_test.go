//go:build !linux

package e2e_test

const insideKey = "AGENTCTL_E2E_INSIDE"

// isolated reports false: there are no pid namespaces here.
func isolated() (code int, ok bool) { return 0, false }

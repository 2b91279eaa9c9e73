// Package hostile attacks a built agentctl: damaged stores, locks, configurations, repositories and hooks, processes that lie,
// and kills at random moments. After each run it checks what must hold whatever the input is; [docs/security.md] lists it.
//
//	go test -v ./tests/hostile                                                     # 80 cases, the same each time
//	go test -v ./tests/hostile -run Hostile -timeout 90m -hostile.for 1h           # an hour, other cases each time
//	go test -v ./tests/hostile -run Hostile -hostile.seed 7 -hostile.case 123 -hostile.keep DIR
//
// A case depends on the seed and its number alone, except for the moments at which processes are killed. The tests need Linux
// and git. What needs root, or namespaces that the system refuses, is counted as left out; with CI=true and as root that is a
// failure.
//
// [docs/security.md]: ../../docs/security.md
package hostile

// Package hostile attacks a built agentctl by damaged stores of all agents. After each run it checks what must hold whatever the input is;
// [docs/security.md] lists it.
//
//	go test -v ./tests/hostile                                        # 40 cases, the same each time
//	go test -v ./tests/hostile -timeout 90m -hostile.for 1h           # an hour, other cases each time
//	go test -v ./tests/hostile -hostile.seed 7 -hostile.case 123      # one case again
//
// A case depends on the seed and its number alone. The tests need Linux.
//
// [docs/security.md]: ../../docs/security.md
package hostile

// Package adapters checks adapters, of real agents and of tests, against the interfaces that they may implement.
package adapters

import (
	"fmt"
	"reflect"

	"agentctl/discover"
	"agentctl/launch"
)

// interfaces are all interfaces that an adapter may implement.
func interfaces() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[discover.Adapter](), reflect.TypeFor[discover.DiskReader](), reflect.TypeFor[discover.FileStore](),
		reflect.TypeFor[discover.HomeResolver](), reflect.TypeFor[discover.IDMatcher](), reflect.TypeFor[discover.IDShortener](),
		reflect.TypeFor[discover.MarkerMatcher](), reflect.TypeFor[discover.MarkerReader](), reflect.TypeFor[discover.MessageReader](),
		reflect.TypeFor[discover.PathWatcher](), reflect.TypeFor[discover.ProgramNamer](), reflect.TypeFor[discover.SandboxDetector](),
		reflect.TypeFor[discover.Sandboxer](), reflect.TypeFor[discover.ShortNamer](), reflect.TypeFor[discover.Store](),
		reflect.TypeFor[discover.SubagentTotals](), reflect.TypeFor[discover.UsageReader](),
		reflect.TypeFor[launch.Adapter](), reflect.TypeFor[launch.Hinter](), reflect.TypeFor[launch.ModelFamilies](),
		reflect.TypeFor[launch.Stopper](), reflect.TypeFor[launch.StoreManager](),
	}
}

// Problems returns what is wrong with an adapter: an exported method that belongs to no interface which the adapter implements.
// Its name or signature was changed in one place only. That compiles, but the method is never called.
func Problems(adapter any) (problems []string) {
	t := reflect.TypeOf(adapter)
	used := map[string]bool{}
	for _, i := range interfaces() {
		if t.Implements(i) {
			for n := range i.NumMethod() {
				used[i.Method(n).Name] = true
			}
		}
	}
	for n := range t.NumMethod() {
		if name := t.Method(n).Name; !used[name] {
			problems = append(problems, fmt.Sprintf("%s.%s belongs to no interface that %s implements", t, name, t))
		}
	}
	return problems
}

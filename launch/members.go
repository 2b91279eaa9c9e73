package launch

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"agentctl/discover"
)

// Member is one agent to launch: the only one, or a member of a group.
type Member struct {
	Adapter Adapter
	// Model is the agent's own name of a model; "" leaves it to the agent.
	Model string
	// Branch is the branch of its worktree, Base where a new branch starts; "" where the group decides.
	Branch, Base string
	// Name is the member's own name within the group; see [NameMembers].
	Name string
}

// NameMembers gives each member its name: the agent's, with the model's if the agent occurs twice, and a number if that is
// still ambiguous.
func NameMembers(members []Member) {
	times := map[discover.Agent]int{}
	for _, m := range members {
		times[m.Adapter.Name()]++
	}
	var taken []string
	for i := range members {
		m := &members[i]
		name := m.ShortName()
		if model := m.shortModel(); times[m.Adapter.Name()] > 1 && model != "" {
			name += "-" + model
		}
		m.Name = name
		for n := 2; slices.Contains(taken, m.Name); n++ {
			m.Name = fmt.Sprintf("%s-%d", name, n)
		}
		taken = append(taken, m.Name)
	}
}

// ShortName is the agent's name for a branch.
func (m Member) ShortName() string {
	return cmp.Or(m.Adapter.ShortName(), string(m.Adapter.Name()))
}

// shortModel is a model's name for a branch: its family's, or the last part of its own; "" if the member has none.
func (m Member) shortModel() string {
	if m.Model == "" {
		return ""
	}
	for _, family := range m.Adapter.ModelFamilies() {
		if strings.Contains(m.Model, family) {
			return family
		}
	}
	short := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, path.Base(m.Model))
	return strings.Trim(short, "-")
}

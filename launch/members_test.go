package launch

import (
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

// family is an adapter whose agent has a short name and models of a family.
type family struct{ puppets }

func (family) Name() discover.Agent    { return "known-agent" }
func (family) ShortName() string       { return "ka" }
func (family) ModelFamilies() []string { return []string{"grand"} }

func TestMembersHaveDistinctNames(t *testing.T) {
	adapters := map[string]Adapter{"known-agent": family{}, "puppet": puppets{}}
	for given, want := range map[string]string{
		"known-agent puppet":                                   "ka puppet",
		"known-agent:grand-4 puppet":                           "ka puppet",
		"known-agent:grand-4 known-agent:tiny":                 "ka-grand ka-tiny",
		"known-agent:grand-4 known-agent:x/grand-5":            "ka-grand ka-grand-2",
		"puppet:maker/grand-4.5 puppet:plain":                  "puppet-grand-4-5 puppet-plain",
		"puppet puppet puppet:a":                               "puppet puppet-2 puppet-a",
		"puppet:(odd) puppet:_odd_ puppet:/":                   "puppet-odd puppet-odd-2 puppet",
		"known-agent:grand-4 known-agent:grand-4 puppet:grand": "ka-grand ka-grand-2 puppet",
	} {
		var members []Member
		for word := range strings.FieldsSeq(given) {
			agent, model, _ := strings.Cut(word, ":")
			members = append(members, Member{Adapter: adapters[agent], Model: model})
		}
		NameMembers(members)
		var got []string
		for _, m := range members {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", given, got, want)
		}
	}
}

package discover

import (
	"slices"
	"sort"

	"agentctl/proc"
)

// target is the session that a claim names.
type target struct {
	agent Agent
	id    string
	// place is the native file or, while there is none, the home and directory: an ID alone is not unique.
	place string
}

func (c Claim) target() target {
	if c.Path != "" {
		return target{c.Agent, c.Session, c.Path}
	}
	return target{c.Agent, c.Session, c.Home + "\x00" + c.Dir}
}

// agentProcess is a process as one agent sees it: a claim says nothing about another agent's view of the process.
type agentProcess struct {
	agent   Agent
	process proc.ID
}

// targetsOf returns the targets that mean this record: those with its path, and those made before it was on disk, if no other
// record with this ID fits as well. sameID are all records with this ID, if there is more than one.
func (cor *correlation) targetsOf(r *Record, sameID []*Record) []target {
	named := cor.targetsByID[r.recordID()]
	if len(named) == 0 {
		return nil
	}
	if len(sameID) == 0 {
		sameID = []*Record{r}
	}
	out := slices.DeleteFunc(slices.Clone(named), func(t target) bool {
		c := cor.evidence[cor.evidenceByTarget[t][0]].Claim
		return c.Path != r.Path && (c.Path != "" || bestRecord(c, sameID) != r.Key())
	})
	sort.Slice(out, func(i, j int) bool { return out[i].place < out[j].place })
	return out
}

// bestRecord finds the one record that a claim without a path can mean; the zero Key if there is none, or several.
func bestRecord(c Claim, sameID []*Record) Key {
	var fits, sameDir []Key
	for _, r := range sameID {
		if c.Home != "" && r.Home != c.Home {
			continue
		}
		fits = append(fits, r.Key())
		if r.Dir == c.Dir {
			sameDir = append(sameDir, r.Key())
		}
	}
	switch {
	case len(sameDir) == 1:
		return sameDir[0]
	case len(fits) == 1:
		return fits[0]
	}
	return Key{}
}

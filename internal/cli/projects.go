package cli

import "agentctl/lock"

// Projects says which project a directory belongs to. It keeps its answers.
type Projects map[string]string

// Of returns the directory of the git repository that a directory is in, so that all its worktrees are one project; else the
// directory itself.
func (p Projects) Of(dir string) string {
	project, known := p[dir]
	if !known {
		project = dir
		if dir != "" {
			if repo, err := lock.RepositoryOf(dir); err == nil {
				project = repo.Dir()
			}
		}
		p[dir] = project
	}
	return project
}

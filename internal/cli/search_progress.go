package cli

import (
	"fmt"
	"sync/atomic"
)

// progress is how much has been searched. Its methods may be called concurrently.
type progress struct{ searched, total atomic.Int64 }

func (p *progress) set(searched, total int) {
	p.total.Store(int64(total))
	p.searched.Store(int64(searched))
}

// String describes the work on one line.
func (p *progress) String() string {
	total := p.total.Load()
	if total == 0 {
		return "listing the agents' stores"
	}
	return fmt.Sprintf("searched %d of %d sessions", p.searched.Load(), total)
}

// interrupted describes what was done before an interrupt. Of the sessions that are searched together, all count or none.
func (p *progress) interrupted() string {
	return fmt.Sprintf("interrupted: at least %d of %d sessions were searched", p.searched.Load(), p.total.Load())
}

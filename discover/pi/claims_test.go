package pi

import (
	"agentctl/proc"
	"agentctl/tests/proctest"
)

func table(processes ...proctest.Process) *proc.Table { return proctest.NewTable(processes...) }

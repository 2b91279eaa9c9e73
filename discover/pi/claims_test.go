package pi

import "agentctl/proc"

func table(processes ...proc.FakeProcess) *proc.Table { return proc.NewFakeTable(processes...) }

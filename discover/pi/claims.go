package pi

import (
	"context"

	"agentctl/discover"
	"agentctl/proc"
)

// Claims returns nothing yet.
func (Adapter) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return nil, nil
}

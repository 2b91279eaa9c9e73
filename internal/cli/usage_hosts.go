package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"

	"agentctl/internal/config"
	"agentctl/internal/object"
)

// usageRunHosts adds up what the sessions of several machines used.
func usageRunHosts(ctx context.Context, c *Call, o *usageOptions) error {
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return err
	}
	since, err := windowStart(c, o)
	if err != nil {
		return err
	}
	if o.prices != "" { // the file is here
		if calls, err = withPrices(c, calls, o.prices); err != nil {
			return err
		}
	}
	m := merged{by: group(o.by), rows: map[rowOnHost]object.UsageRow{}, unpriced: map[string]bool{}}
	partial := Gather(ctx, c, calls, func(u object.Usage) error {
		m.add(u)
		return nil
	})
	u := m.report()
	u.By, u.Since, u.Until = o.by, object.Timestamp(since), object.Timestamp(c.Style.Now)
	if partial != nil && len(u.Rows) == 0 && !o.JSON {
		return partial // that nothing was used is not known
	}
	return cmp.Or(usageShow(c, u, o), partial)
}

// withPrices has each host read the prices of the file here.
func withPrices(c *Call, calls []HostCall, path string) ([]HostCall, error) {
	_, text, err := config.LoadPrices(path, c.Stdin)
	if err != nil {
		return nil, UsageError("usage", "--prices: %v", err)
	}
	for i := range calls {
		calls[i] = calls[i].Without("prices").With("--prices=-")
		calls[i].Stdin = text
	}
	return calls, nil
}

// merged adds up the reports of several machines.
type merged struct {
	by       group
	rows     map[rowOnHost]object.UsageRow
	total    object.UsageRow
	unpriced map[string]bool
}

// rowOnHost identifies a row: a directory and a session are of one machine.
type rowOnHost struct{ host, adapter, key string }

func (m *merged) add(u object.Usage) {
	for _, row := range u.Rows {
		key := rowOnHost{row.Host, row.Adapter, row.Key}
		m.rows[key] = addRows(m.rows[key], row)
	}
	m.total = addRows(m.total, u.Total)
	for _, model := range u.UnpricedModels {
		m.unpriced[model] = true
	}
}

// addRows adds up two rows of one key. A row without tokens is none yet, and adds nothing to what is known of the cost.
func addRows(a, b object.UsageRow) object.UsageRow {
	out := b
	if a.Tokens.Total == 0 && a.Sessions == 0 {
		return out
	}
	out.Tokens = a.Tokens.Plus(b.Tokens)
	out.Sessions = a.Sessions + b.Sessions
	out.Cost, out.CostPartial = addAmounts(a, b, a.Cost, b.Cost, a.CostPartial || b.CostPartial)
	out.ReckonedCost, out.ReckonedPartial = addAmounts(a, b, a.ReckonedCost, b.ReckonedCost, a.ReckonedPartial || b.ReckonedPartial)
	return out
}

// addAmounts adds up two amounts. The sum is partial if one is not known of a row that has tokens.
func addAmounts(a, b object.UsageRow, x, y *float64, partial bool) (*float64, bool) {
	switch {
	case x == nil && y == nil:
		return nil, false
	case x == nil:
		return y, partial || a.Tokens.Total > 0
	case y == nil:
		return x, partial || b.Tokens.Total > 0
	}
	sum := *x + *y
	return &sum, partial
}

// report returns the rows in their order.
func (m *merged) report() object.Usage {
	u := object.Usage{Rows: slices.Collect(maps.Values(m.rows)), Total: m.total, UnpricedModels: slices.Sorted(maps.Keys(m.unpriced))}
	if u.Rows == nil {
		u.Rows = []object.UsageRow{}
	}
	m.by.sort(u.Rows)
	return u
}

// sort puts rows in their order: times in theirs, all else by tokens.
func (g group) sort(rows []object.UsageRow) {
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		switch {
		case !g.ofTime() && a.Tokens.Total != b.Tokens.Total:
			return a.Tokens.Total > b.Tokens.Total
		case (a.Key == "") != (b.Key == ""):
			return b.Key == ""
		}
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.Host, b.Host)) < 0
	})
}

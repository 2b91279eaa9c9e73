package cli

import "cmp"

// order is a way to sort the rows.
type order struct {
	name string
	// column is the title of the column that it sorts by.
	column string
	// compare is nil for the order in which sessions need the user.
	compare func(a, b row) int
}

// orders are all ways, in the order in which s goes through them.
func orders() []order {
	most := func(n func(row) float64) func(a, b row) int {
		return func(a, b row) int { return cmp.Compare(n(b), n(a)) }
	}
	return []order{
		{name: "attention"},
		{"cpu", "CPU", most(func(r row) float64 { return value(r.load.CPU) })},
		{"memory", "MEMORY", most(func(r row) float64 { return float64(value(r.load.Memory)) })},
		{"tokens", "TOK/MIN", most(func(r row) float64 { return value(r.load.TokenRate) })},
		{"context", "CTX", most(func(r row) float64 {
			if t := r.s.Tokens; t != nil && t.Window > 0 {
				return float64(t.Context) / float64(t.Window)
			}
			return -1 // less than any that is known
		})},
		{"age", "AGE", func(a, b row) int { return cmp.Compare(a.s.StartedAt, b.s.StartedAt) }},
		{"agent", "AGENT", func(a, b row) int { return cmp.Compare(a.s.Adapter, b.s.Adapter) }},
		{"directory", "DIR", func(a, b row) int { return cmp.Compare(a.s.CWD, b.s.CWD) }},
	}
}

// value is what n points to; less than all values if it is not known.
func value[N int64 | float64](n *N) N {
	if n == nil {
		return -1
	}
	return *n
}

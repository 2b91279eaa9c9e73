package output

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Metric is one metric with its samples, a gauge unless it is a counter. No two samples may have the same labels.
type Metric struct {
	Name, Help string
	Counter    bool
	Samples    []Sample
}

// Sample is one value of a metric.
type Sample struct {
	Labels []Label
	Value  float64
}

// Label is a dimension of a metric, with a sample's value in it.
type Label struct{ Name, Value string }

// Add adds a sample; its labels are names and values in turn.
func (m *Metric) Add(value float64, labels ...string) {
	s := Sample{Value: value}
	for i := 0; i+1 < len(labels); i += 2 {
		s.Labels = append(s.Labels, Label{labels[i], labels[i+1]})
	}
	m.Samples = append(m.Samples, s)
}

// Exposition writes metrics in Prometheus's text format, version 0.0.4. One without samples is left out.
func Exposition(w io.Writer, metrics []Metric) error {
	out := bufio.NewWriter(w)
	for _, m := range metrics {
		if len(m.Samples) == 0 {
			continue
		}
		kind := "gauge"
		if m.Counter {
			kind = "counter"
		}
		help := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(m.Help)
		out.WriteString("# HELP " + m.Name + " " + help + "\n# TYPE " + m.Name + " " + kind + "\n")
		for _, s := range m.Samples {
			out.WriteString(m.Name + s.labels() + " " + strconv.FormatFloat(s.Value, 'f', -1, 64) + "\n")
		}
	}
	return out.Flush()
}

// labels writes the values as they may be shown on a terminal.
func (s Sample) labels() string {
	if len(s.Labels) == 0 {
		return ""
	}
	var pairs []string
	for _, l := range s.Labels {
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(Sanitize(l.Value))
		pairs = append(pairs, l.Name+`="`+value+`"`)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

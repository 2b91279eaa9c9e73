package output

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Metric is a metric with its samples. It is a gauge unless Counter is set. The labels of each sample must be
// unique.
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

// Label is the name of a dimension and its value.
type Label struct{ Name, Value string }

// Add adds a sample; labels alternates names and values.
func (m *Metric) Add(value float64, labels ...string) {
	s := Sample{Value: value}
	for i := 0; i+1 < len(labels); i += 2 {
		s.Labels = append(s.Labels, Label{labels[i], labels[i+1]})
	}
	m.Samples = append(m.Samples, s)
}

// Exposition writes metrics in the text exposition format of Prometheus, version 0.0.4. It leaves out metrics
// without samples.
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

// labels formats the labels. Their values are sanitized.
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

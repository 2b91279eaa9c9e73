package output

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Metric is a metric with its samples. It is a gauge unless Counter is set. The labels of each sample must be
// unique.
type Metric struct {
	Name    string   `json:"name"`
	Help    string   `json:"help"`
	Counter bool     `json:"counter,omitempty"`
	Samples []Sample `json:"samples"`
}

// Sample is one value of a metric.
type Sample struct {
	Labels []Label `json:"labels,omitempty"`
	Value  float64 `json:"value"`
}

// Label is the name of a dimension and its value.
type Label struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// isMetricName reports whether Prometheus takes a name, as that of a metric or of a label.
func isMetricName(name string) bool {
	const longest = 128
	return name != "" && len(name) <= longest && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == "" && (name[0] < '0' || name[0] > '9')
}

// Check returns an error unless the metric of another agentctl may be printed. It sanitizes the help.
func (m *Metric) Check() error {
	if !isMetricName(m.Name) {
		return fmt.Errorf("no metric: %q", m.Name)
	}
	m.Help = Sanitize(m.Help)
	for _, s := range m.Samples {
		for _, l := range s.Labels {
			if !isMetricName(l.Name) || l.Name == "host" {
				return fmt.Errorf("no label of a metric: %q", l.Name)
			}
		}
	}
	return nil
}

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

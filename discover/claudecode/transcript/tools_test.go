package transcript

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/discover/native/fsread"
)

// Results without a call take bounded memory.
func TestResultsAreBounded(t *testing.T) {
	var r toolResults
	for i := range 10 * maxResults {
		r.store(fmt.Sprint(i), toolResult{output: strings.Repeat("x", i%100)})
	}
	if n := len(r.byCall); n > maxResults {
		t.Errorf("%d results are held", n)
	}
	output := strings.Repeat("x", fsread.MaxLine/2)
	for i := range 100 {
		r.store(fmt.Sprint("large", i), toolResult{output: output})
	}
	if n := len(r.byCall); n > 3 {
		t.Errorf("%d large results are held", n)
	}
	if _, ok := r.take("large99"); !ok {
		t.Error("the last result is lost")
	}
}

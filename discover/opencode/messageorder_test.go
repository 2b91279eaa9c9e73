package opencode

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/discover"
)

// Messages that the user sends while the agent answers are where they were sent.
func TestInTimeOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var store []transcriptItem // oldest first, answers and prompts by when they began
		var want []discover.Message
		clock := int64(0)
		tick := func() time.Time {
			clock += rapid.Int64Range(1, 3).Draw(r, "tick")
			return time.UnixMilli(clock)
		}
		say := func(answer string) transcriptItem {
			s := transcriptItem{Message: discover.Message{ID: fmt.Sprint(len(want)), Time: tick()}, answer: answer}
			want = append(want, s.Message)
			return s
		}
		for n := range rapid.IntRange(0, 12).Draw(r, "answers") {
			for range rapid.IntRange(0, 3).Draw(r, "prompts before") {
				store = append(store, say(""))
			}
			var parts, meanwhile []transcriptItem
			for range rapid.IntRange(0, 4).Draw(r, "parts") {
				parts = append(parts, say(fmt.Sprint("answer ", n)))
				for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(r, "prompts meanwhile") {
					meanwhile = append(meanwhile, say(""))
				}
			}
			store = append(append(store, parts...), meanwhile...)
		}
		var got []discover.Message
		backwards := func(yield func(transcriptItem) bool) {
			for _, s := range slices.Backward(store) {
				if !yield(s) {
					return
				}
			}
		}
		for m, err := range inTimeOrder(iter.Seq[transcriptItem](backwards)) {
			if err != nil {
				r.Fatal(err)
			}
			got = append(got, m)
		}
		slices.Reverse(got)
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

package cli

import (
	"slices"
	"testing"

	"agentctl/launch"
)

// A word means what the request takes, and nothing else: what was meant for another kind of request is refused.
func TestReplyTo(t *testing.T) {
	permission, once := launch.OpenRequest{Always: "allows more"}, launch.OpenRequest{}
	choices := []launch.Choice{{Label: "The first"}, {Label: "No"}}
	question := func(q launch.Question) launch.OpenRequest { return launch.OpenRequest{Questions: []launch.Question{q}} }
	closed, free := question(launch.Question{Choices: choices}), question(launch.Question{Choices: choices, FreeText: true})
	several := question(launch.Question{Choices: choices, Multiple: true})
	for _, c := range []struct {
		request launch.OpenRequest
		words   []string
		want    launch.ReplyKind
		answer  []string
		exit    int
	}{
		{permission, []string{"yes"}, launch.ReplyYes, nil, 0},
		{permission, []string{"always"}, launch.ReplyAlways, nil, 0},
		{permission, []string{"no", "use make"}, launch.ReplyNo, nil, 0},
		{permission, []string{"no", "\x1b[2J"}, "", nil, ExitUsage},
		{permission, []string{"yes", "please"}, "", nil, ExitUsage},
		{permission, []string{"ja"}, "", nil, ExitUsage},
		{once, []string{"always"}, "", nil, ExitUnable},
		{closed, []string{"the FIRST"}, launch.ReplyText, []string{"The first"}, 0},
		{closed, []string{"no"}, launch.ReplyText, []string{"No"}, 0},
		{closed, []string{"yes"}, "", nil, ExitConflict},
		{closed, []string{"the third"}, "", nil, ExitUsage},
		{closed, []string{"no", "no"}, "", nil, ExitUsage},
		{free, []string{"the third"}, launch.ReplyText, []string{"the third"}, 0},
		{free, []string{"always"}, "", nil, ExitConflict},
		{several, []string{"no, the first"}, launch.ReplyText, []string{"No", "The first"}, 0},
		{several, []string{"no, the third"}, "", nil, ExitUsage},
	} {
		reply, err := replyTo(c.request, c.words)
		if code := ExitCode(err); code != c.exit {
			t.Errorf("%q: exit code %d, want %d: %v", c.words, code, c.exit, err)
			continue
		}
		if err == nil && (reply.Kind != c.want || c.answer != nil && !slices.Equal(reply.Answers[0], c.answer)) {
			t.Errorf("%q: %+v", c.words, reply)
		}
	}
}

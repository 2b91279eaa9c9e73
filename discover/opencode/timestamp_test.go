package opencode

import (
	"testing"
)

// The time in a message's ID is the message's time, also if the 48 bits have wrapped around in between.
func TestMessageIDTime(t *testing.T) {
	const created = 1795222480365
	for _, c := range []struct {
		id           string
		before, want int64
	}{
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created + 880, created}, // SEEN 1.18.33
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created, created},
		{"msg_fffffffff001aaaaaaaaaaaaaa", 1 << 36 * 26, 1<<36*26 - 1},
		{"msg_1fb9925ed0018cKfoeYEghMV1N", created - 1, created - 1}, // a copy's
		{"msg_short", created, 0},
		{"prt_1fb9925ed001", created, 0},
		{"msg_zzzzzzzzzzzz", created, 0},
		{"", created, 0},
	} {
		if got := messageIDTime(c.id, c.before); got != c.want {
			t.Errorf("messageIDTime(%q, %d) = %d, want %d", c.id, c.before, got, c.want)
		}
	}
}

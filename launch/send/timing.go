package send

import "time"

const (
	// disorder is how far the times of stored messages may be out of order.
	disorder = time.Minute
	// maxMessages is how many messages may be newer than the send: more than any agent stores in the time that is waited.
	maxMessages = 10_000
	// finalReadTimeout bounds the last read of the transcript after the time has run out.
	finalReadTimeout = 2 * time.Second
)

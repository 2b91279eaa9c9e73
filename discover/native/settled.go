package native

import "time"

// settling is how long after its last change a file that is written in place may still be about to get its content.
// Writing one takes microseconds, but between emptying and filling it a writer may lose its core to others: on a busy
// machine OpenCode 1.1.65 was met more than 20 ms into it.
const settling = time.Second

// ReadSettled is [ReadFile] for a file that its agent writes in place, and which may be met empty or half-written: as
// long as it is not whole and has changed in the last second, it is read again. Content that is not whole even then,
// or has not been for longer, is returned as it is; the caller judges it by the same measure. It returns within a
// second, and files that were left torn at one time are not waited for one after the other.
func ReadSettled(path string, limit int64, whole func([]byte) bool) ([]byte, error) {
	return readSettled(path, limit, settling, whole)
}

func readSettled(path string, limit int64, settling time.Duration, whole func([]byte) bool) ([]byte, error) {
	const longest = 16 * time.Millisecond
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		data, changed, err := readFile(path, limit)
		if err != nil || whole(data) || time.Since(changed).Abs() >= settling || time.Since(began) >= settling {
			return data, err
		}
		<-time.After(pause)
	}
}

package host

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Request says what a host is to run.
type Request struct {
	// Schema is the $id of the JSON that the caller understands. A program that prints another one runs nothing.
	Schema string `json:"schema"`
	// Args are the arguments, without the program's name.
	Args []string `json:"args"`
	// Stdin is what the program reads there.
	Stdin []byte `json:"stdin,omitempty"`
}

// maxWord bounds a request in a command line, in base64: some shells take no long words.
const maxWord = 2048

// word returns the request as one word, which means the same in every shell. sshd takes no input before a command has begun, so that a request by
// stdin arrives a round trip later than one in the command line. The word is "" for a long request, and for one with input, which may be a prompt: all
// users of a host can read its command lines.
func (r Request) word() string {
	word, err := encodeWord(r)
	if err != nil || len(r.Stdin) > 0 || len(word) > maxWord {
		return ""
	}
	return word
}

func encodeWord(r Request) (string, error) {
	content, err := json.Marshal(r)
	return base64.RawURLEncoding.EncodeToString(content), err
}

// DecodeWord returns the request of a word in the command line.
func DecodeWord(word string) (r Request, err error) {
	content, err := base64.RawURLEncoding.DecodeString(word)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return Request{}, fmt.Errorf("reading the request: %w", err)
	}
	return r, nil
}

// readRequest returns the request of the word or, if that is "", the one that in begins with.
func readRequest(word string, in *bufio.Reader) (r Request, err error) {
	if word != "" {
		return DecodeWord(word)
	}
	kind, content, err := readFrame(in, maxRequest)
	if err == nil && kind == frameRequest {
		err = json.Unmarshal(content, &r)
	} else if err == nil {
		err = errFrame
	}
	if err != nil {
		return Request{}, fmt.Errorf("reading the request: %w", err)
	}
	return r, nil
}

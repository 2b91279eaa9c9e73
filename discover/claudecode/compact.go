package claudecode

import (
	"bytes"

	"agentctl/discover/native"
)

// compact goes over an object that is written without white space, as programs write it, in place and forwards. What it
// takes, [native.Object] takes in the same way, several times slower; anything else it refuses, whether that is wrong or
// only unusual.
//
//	for more := c.open(); more; more = c.more() {
//		switch string(c.key()) { … }
//	}
//
// Each key is followed by its value, or by all of an object that is gone over in the same way.
type compact struct {
	raw []byte
	at  int // what was gone over
	bad bool
}

func (c *compact) refuse() { c.bad, c.at = true, len(c.raw) }

// open enters an object, which must have members.
func (c *compact) open() bool { return c.pass('{') }

// more passes what follows a member, and reports whether that is another one. At the end it leaves the object.
func (c *compact) more() bool {
	if c.at < len(c.raw) && c.raw[c.at] == '}' {
		c.at++
		return false
	}
	return c.pass(',')
}

func (c *compact) pass(b byte) bool {
	if c.at >= len(c.raw) || c.raw[c.at] != b {
		c.refuse()
		return false
	}
	c.at++
	return true
}

// passText passes this text.
func (c *compact) passText(text []byte) bool {
	if !bytes.HasPrefix(c.raw[c.at:], text) {
		c.refuse()
		return false
	}
	c.at += len(text)
	return true
}

// key passes a key and its colon.
func (c *compact) key() []byte {
	rest := c.raw[c.at:]
	n := plainText(rest)
	if n == 0 || n >= len(rest) || rest[n] != ':' {
		c.refuse()
		return nil
	}
	c.at += n + 1
	return rest[1 : n-1]
}

// value passes a value, and returns where it begins.
func (c *compact) value() native.Value {
	v := native.Value(c.raw[c.at:])
	n := plainText(v)
	if n == 0 {
		n = len(v.Raw())
	}
	if n == 0 {
		c.refuse()
		return nil
	}
	c.at += n
	return v
}

// plainText is the length of the string that b begins with, if it is one and its end is sure at the first look; 0 if not.
func plainText(b []byte) int {
	if len(b) < 2 || b[0] != '"' {
		return 0
	}
	n := bytes.IndexByte(b[1:], '"')
	if n < 0 || b[n] == '\\' {
		return 0
	}
	return n + 2
}

// count passes a value, and returns the whole number that it is.
func (c *compact) count() (n int64) {
	const sure = 15 // digits that an int64 holds
	for i, b := range c.raw[c.at:min(c.at+sure+1, len(c.raw))] {
		if b < '0' || b > '9' {
			if i > 0 && (b == ',' || b == '}') {
				c.at += i
				return n
			}
			break
		}
		n = n*10 + int64(b-'0')
	}
	return c.value().Int()
}

package claudecode

import (
	"bytes"

	"agentctl/discover/native"
)

// skim tells the records of a transcript whose form is usual, as nearly all are, in a fraction of the time that
// [parseLine] takes: for the usage of each answer all of them are gone over. Others are parseLine's.
type skim struct {
	records [noted + 1]recordForm // of the last one of each kind
	usages  form                  // of the last one
	// The records of one answer have the same usage: it is compared.
	used   []byte
	usage  usage
	varies []span // of the record that is gone over
	counts []span // of its usage
}

// recordForm is the form of a record, and what does not vary in it.
type recordForm struct {
	form
	side bool
	part bool // what follows is not looked at
}

// kind is what a record is to the totals.
type kind int

const (
	unusual kind = iota // parseLine tells
	said                // an answer of the model
	heard               // a user's record, as a tool's result is: it has not been gone over
	noted               // a system record that means nothing to the totals
)

// skimmed is what the totals want of a record. Its values are valid as long as the line is.
type skimmed struct {
	ID, RequestID native.Value
	Timestamp     native.Value
	IsSidechain   bool
	Usage         usage
}

func (l *line) skimmed() skimmed {
	return skimmed{l.ID, l.RequestID, l.Timestamp, l.IsSidechain, l.usage()}
}

// record tells a record. What was heard has no more than its kind, and what is unusual nothing.
func (s *skim) record(raw []byte) (r skimmed, k kind) {
	for k := said; k <= noted; k++ {
		f, c := &s.records[k], compact{raw: raw}
		if r := (skimmed{IsSidechain: f.side}); f.fits(&c, s, &r) && (f.part || c.at == len(raw)) {
			return r, k
		}
	}
	c := compact{raw: raw}
	if s.varies = s.varies[:0]; !s.walk(&c, &r, &k) {
		return skimmed{}, unusual
	}
	f := &s.records[k]
	f.learn(&c, 0, s.varies)
	f.side, f.part = r.IsSidechain, c.at < len(raw)
	return r, k
}

// walk goes over a record, and reports whether its form is usual.
func (s *skim) walk(c *compact, r *skimmed, k *kind) bool {
	message := false // there was one
	for more := c.open(); more; more = c.more() {
		switch string(c.key()) {
		case "type":
			switch wordOf(c.value()) {
			case "user":
				if *k == unusual && !message {
					*k = heard
					return true
				}
				c.refuse()
			case "assistant":
				*k = said
			case "system":
				if *k = noted; message {
					c.refuse()
				}
			default:
				c.refuse()
			}
		case "subtype":
			if wordOf(c.value()) != "turn_duration" {
				c.refuse()
			}
		case "message":
			if message || *k == noted {
				c.refuse()
			}
			message = true
			s.message(c, r)
		case "isSidechain":
			r.IsSidechain = isTrue(c.value())
		case "requestId":
			s.vary(c, r, requestValue)
		case "timestamp":
			s.vary(c, r, timeValue)
		case "parentUuid", "uuid", "promptId", "durationMs", "messageCount", "toolInputStreamMs", "apiBlockIndex", "requestRef":
			s.vary(c, r, anyValue)
		case "forkedFrom", "requestSessionId", "attachment", "toolUseResult":
			c.refuse()
		default:
			c.value()
		}
	}
	return !c.bad && c.at == len(c.raw) && *k != unusual
}

func (s *skim) message(c *compact, r *skimmed) {
	for more := c.open(); more; more = c.more() {
		switch string(c.key()) {
		case "id":
			s.vary(c, r, idValue)
		case "model":
			if v := c.value(); len(v) > 1 && (v[1] == synthetic[0] || v[1] == '\\') {
				c.refuse()
			}
		case "usage":
			s.vary(c, r, usageValue)
		case "content", "stop_reason":
			s.vary(c, r, anyValue)
		default:
			c.value()
		}
	}
}

// vary takes a value that varies from one record to the next.
func (s *skim) vary(c *compact, r *skimmed, v value) {
	from := c.at
	s.take(c, r, v)
	s.varies = append(s.varies, span{from, c.at, v})
}

func (s *skim) take(c *compact, r *skimmed, v value) {
	switch v {
	case idValue:
		r.ID = c.value()
	case requestValue:
		r.RequestID = c.value()
	case timeValue:
		r.Timestamp = c.value()
	case usageValue:
		s.tokens(c, r)
	case anyCount:
		c.count()
	case inCount:
		r.Usage.In = c.count()
	case outCount:
		r.Usage.Out = c.count()
	case cacheReadCount:
		r.Usage.CacheRead = c.count()
	case cacheWriteCount:
		r.Usage.CacheWrite = c.count()
	case reasoningCount:
		r.Usage.Reasoning = c.count()
	default:
		c.value()
	}
}

// tokens takes a usage.
func (s *skim) tokens(c *compact, r *skimmed) {
	if len(s.used) > 0 && bytes.HasPrefix(c.raw[c.at:], s.used) {
		c.at += len(s.used)
		r.Usage = s.usage
		return
	}
	from := c.at
	r.Usage = usage{}
	if next := *c; s.usages.fits(&next, s, r) {
		*c = next
	} else {
		r.Usage, s.counts = usage{}, s.counts[:0]
		if s.walkUsage(c, r); !c.bad {
			s.usages.learn(c, from, s.counts)
		}
	}
	if !c.bad {
		s.usage, s.used = r.Usage, append(s.used[:0], c.raw[from:c.at]...)
	}
}

func (s *skim) walkUsage(c *compact, r *skimmed) {
	details := false // there were some
	for more := c.open(); more; more = c.more() {
		switch string(c.key()) {
		case "input_tokens":
			s.count(c, r, inCount)
		case "output_tokens":
			s.count(c, r, outCount)
		case "cache_read_input_tokens":
			s.count(c, r, cacheReadCount)
		case "cache_creation_input_tokens":
			s.count(c, r, cacheWriteCount)
		case "output_tokens_details":
			if details {
				c.refuse()
			}
			details = true
			s.walkCounts(c, r, true)
		case "server_tool_use", "cache_creation":
			s.walkCounts(c, r, false)
		case "iterations":
			s.count(c, r, anyValue)
		default:
			c.value()
		}
	}
}

// walkCounts goes over an object of numbers, mostly, among which may be that of the tokens of reasoning.
func (s *skim) walkCounts(c *compact, r *skimmed, reasons bool) {
	if rest := c.raw[c.at:]; !bytes.HasPrefix(rest, []byte(`{`)) || bytes.HasPrefix(rest, []byte(`{}`)) { // null, say
		c.value()
		return
	}
	reasoning := false // there was one
	for more := c.open(); more; more = c.more() {
		if key := c.key(); !reasons || string(key) != "thinking_tokens" {
			s.count(c, r, anyCount)
			continue
		}
		if reasoning {
			c.refuse()
		}
		reasoning = true
		s.count(c, r, reasoningCount)
	}
}

// count takes a number of a usage, which varies.
func (s *skim) count(c *compact, r *skimmed, v value) {
	from := c.at
	s.take(c, r, v)
	s.counts = append(s.counts, span{from, c.at, v})
}

// wordOf is what a string says that has no escapes; "" of anything else.
func wordOf(v native.Value) string {
	n := plainText(v)
	if n == 0 || bytes.IndexByte(v[:n], '\\') >= 0 {
		return ""
	}
	return string(v[1 : n-1])
}

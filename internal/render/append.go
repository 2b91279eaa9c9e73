package render

import (
	"math"
	"strconv"

	"agentctl/discover"
)

// appendJSON appends the object as encoding/json would write it by the tags of its fields, with what a terminal would
// act upon escaped. A list of ten thousand sessions takes reflection longer than the reading of the stores.
func (s *Session) appendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"id":`...)
	if s.ID == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(b, *s.ID)
	}
	b = appendRest(append(b, `,"adapter":"`...), s.Adapter)
	b = appendRest(append(b, `,"status":"`...), s.Status)
	b = appendKnown(b, `,"outcome":"`, s.Outcome)
	b = appendKnown(b, `,"waitingFor":"`, s.WaitingFor)
	b, err := s.appendWaitingOn(b)
	if err != nil {
		return nil, err
	}
	b = appendKnown(b, `,"error":"`, s.Error)
	b = s.appendPIDs(b)
	b = appendKnown(b, `,"processStartedAt":"`, s.ProcessStartedAt)
	b = appendKnown(b, `,"startedAt":"`, s.StartedAt)
	b = appendKnown(b, `,"lastActivityAt":"`, s.LastActivityAt)
	b = appendKnown(b, `,"stoppedAt":"`, s.StoppedAt)
	b = appendKnown(b, `,"cwd":"`, s.CWD)
	b = appendKnown(b, `,"title":"`, s.Title)
	b = appendKnown(b, `,"prompt":"`, s.Prompt)
	b = appendKnown(b, `,"model":"`, s.Model)
	b = appendKnown(b, `,"branch":"`, s.Branch)
	b = appendKnown(b, `,"version":"`, s.Version)
	b = appendKnown(b, `,"source":"`, s.Source)
	if b, err = s.appendCounts(b); err != nil {
		return nil, err
	}
	b = appendKnown(b, `,"group":"`, s.Group)
	b = appendKnown(b, `,"parentId":"`, s.ParentID)
	b = appendKnown(b, `,"forkedFrom":"`, s.ForkedFrom)
	b = appendKnown(b, `,"path":"`, s.Path)
	b = appendKnown(b, `,"home":"`, s.Home)
	if b, err = s.appendObjects(b); err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

// appendKnown appends a text with its name, unless it is empty. The name is given as it is written, with the comma before it and
// all up to the text: a list has a hundred thousand.
func appendKnown(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendRest(append(b, name...), value)
}

func (s *Session) appendPIDs(b []byte) []byte {
	if s.PID != 0 {
		b = strconv.AppendInt(append(b, `,"pid":`...), int64(s.PID), 10)
	}
	if len(s.PIDs) == 0 {
		return b
	}
	b = append(b, `,"pids":[`...)
	for i, pid := range s.PIDs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(pid), 10)
	}
	return append(b, ']')
}

func (s *Session) appendWaitingOn(b []byte) ([]byte, error) {
	if s.WaitingOn == nil {
		return b, nil
	}
	return appendOther(append(b, `,"waitingOn":`...), s.WaitingOn)
}

// appendCounts appends tokens and cost.
func (s *Session) appendCounts(b []byte) ([]byte, error) {
	if t := s.Tokens; t != nil {
		b = strconv.AppendInt(append(b, `,"tokens":{"in":`...), t.In, 10)
		b = strconv.AppendInt(append(b, `,"out":`...), t.Out, 10)
		b = strconv.AppendInt(append(b, `,"cacheRead":`...), t.CacheRead, 10)
		b = strconv.AppendInt(append(b, `,"cacheWrite":`...), t.CacheWrite, 10)
		b = strconv.AppendInt(append(b, `,"reasoning":`...), t.Reasoning, 10)
		b = strconv.AppendInt(append(b, `,"total":`...), t.Total, 10)
		if t.Context != 0 {
			b = strconv.AppendInt(append(b, `,"context":`...), t.Context, 10)
		}
		if t.Window != 0 {
			b = strconv.AppendInt(append(b, `,"window":`...), t.Window, 10)
		}
		b = append(b, '}')
	}
	if s.Cost == nil {
		return b, nil
	}
	return appendNumber(append(b, `,"cost":`...), *s.Cost)
}

// appendObjects appends the members at the end, which are objects themselves.
func (s *Session) appendObjects(b []byte) (_ []byte, err error) {
	if len(s.Quotas) > 0 {
		if b, err = appendOther(append(b, `,"quotas":`...), s.Quotas); err != nil {
			return nil, err
		}
	}
	if s.Changes != nil {
		if b, err = appendOther(append(b, `,"changes":`...), s.Changes); err != nil {
			return nil, err
		}
	}
	if len(s.Processes) > 0 {
		if b, err = appendOther(append(b, `,"processes":`...), s.Processes); err != nil {
			return nil, err
		}
	}
	if len(s.Orphans) > 0 {
		if b, err = appendOther(append(b, `,"orphans":`...), s.Orphans); err != nil {
			return nil, err
		}
	}
	if e := s.Evidence; e != nil {
		b = appendText(append(b, `,"evidence":{"strength":`...), e.Strength)
		b = appendText(append(b, `,"kind":`...), e.Kind)
		b = appendText(append(b, `,"detail":`...), e.Detail)
		b = append(b, '}')
	}
	if b, err = appendMeta(append(b, `,"meta":`...), s.Meta); err != nil {
		return nil, err
	}
	if s.Explain != nil {
		if b, err = appendOther(append(b, `,"explain":`...), s.Explain); err != nil {
			return nil, err
		}
	}
	return appendKnown(b, `,"answer":"`, s.Answer), nil
}

// appendMeta appends an object of any facts.
func appendMeta(b []byte, meta discover.Facts) (_ []byte, err error) {
	b = append(b, '{')
	for i, fact := range meta {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, fact.Name), ':')
		if b, err = appendValue(b, fact.Value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendValue appends the values that are frequent in its own way and leaves the rest to encoding/json.
func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return appendText(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return appendNumber(b, v)
	}
	return appendOther(b, v)
}

func appendNumber(b []byte, v float64) ([]byte, error) {
	if size := math.Abs(v); v == 0 || 1e-6 <= size && size < 1e21 { // encoding/json's bounds of plain notation
		return strconv.AppendFloat(b, v, 'f', -1, 64), nil
	}
	return appendOther(b, v)
}

// appendOther leaves a value to encoding/json.
func appendOther(b []byte, v any) ([]byte, error) {
	text, err := marshal(v, "")
	return append(b, text...), err
}

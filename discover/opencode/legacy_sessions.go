package opencode

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// legacyPaths are the places of one session's messages and parts.
type legacyPaths struct {
	messages string
	parts    func(message string) string
}

// legacyPathsOf derives them from the path of the session's file.
func legacyPathsOf(path, id string) legacyPaths {
	folder := filepath.Dir(path)
	if filepath.Base(folder) == "info" { // 0.5
		root := filepath.Dir(folder)
		return legacyPaths{
			filepath.Join(root, "message", id),
			func(m string) string { return filepath.Join(root, "part", id, m) },
		}
	}
	root := filepath.Dir(filepath.Dir(folder))
	return legacyPaths{
		filepath.Join(root, "message", id),
		func(m string) string { return filepath.Join(root, "part", m) },
	}
}

// readLegacySession reads one session of JSON files; nil if it has vanished. Its errors are warnings; those about messages
// come with the session all the same. Meta: legacy, since current versions of the agent neither list nor resume it;
// slug and projectID as in the database.
func readLegacySession(ctx context.Context, home, path string, want discover.ReadOptions) (*session, error) {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	data, err := readLegacyFile(ctx, path)
	if fsread.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, newWarning(path, err)
	}
	s := parseLegacySession(data)
	if s.ID != id {
		return nil, newWarning(path, errWrongID)
	}
	s.Agent, s.Path, s.Home = agentName, path, home
	err = s.readFiles(ctx, legacyPathsOf(path, id), want)
	s.SetMeta("legacy", true)
	s.finish()
	if want.Full || want.Quotas {
		s.setQuota()
	}
	return s, err
}

func parseLegacySession(data []byte) *session {
	s := &session{}
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "id":
			s.ID = v.Text(shortLimit)
		case "title":
			s.Title = title(v.Text(maxText))
		case "version":
			s.Version = v.Text(shortLimit)
		case "directory":
			s.Dir = v.Text(maxText)
		case "parentID":
			s.Parent = v.Text(shortLimit)
		case "permission":
			if s.headless = legacyHeadless(v); s.headless {
				s.Source = modeRun.source()
			}
		case "slug":
			s.SetMeta("slug", v.Text(shortLimit))
		case "projectID":
			s.SetMeta("projectID", v.Text(shortLimit))
		case "time":
			o := v.Object()
			s.Created, s.Updated = timeOf(o.Get("created").Int()), timeOf(o.Get("updated").Int())
			s.Archived = o.Get("archived").Int() > 0
		}
	}
	if s.Updated.IsZero() {
		s.Updated = s.Created
	}
	return s
}

func legacyHeadless(v jsonl.Value) bool { return isHeadlessPermission(string(v.Raw())) }

// readFiles adds what the messages say: the last one, the first prompt, and where asked for all of them. A message
// that cannot be read is left out; if it is the last one, the state of the turn is not known.
func (s *session) readFiles(ctx context.Context, f legacyPaths, want discover.ReadOptions) error {
	names, err := listJSONNames(ctx, f.messages, "msg_")
	errs := []error{err}
	all := want.Tokens || want.Full
	var sum usage
	var context int64
	for i, name := range names {
		last := i == len(names)-1
		if !last && !all && s.firstPrompt != "" {
			continue
		}
		m, err := readLegacyMessage(ctx, f, name)
		errs = append(errs, err)
		if !timeOf(m.created).Before(s.Created) { // else it was copied from the session that this one was forked from
			sum.addAnswer(m)
		}
		if m.tokens.Total > 0 {
			context = m.contextSize()
		}
		if s.firstPrompt == "" && m.role == "user" {
			s.firstPrompt, err = firstLegacyText(ctx, f.parts(name))
			errs = append(errs, err)
		}
		if last {
			s.last = &m
		}
		if last && m.dir == "" && i > 0 { // the person's: where the agent works, only its own say
			before, _ := readLegacyMessage(ctx, f, names[i-1])
			m.dir = before.dir
		}
		s.Dir = cmp.Or(m.dir, s.Dir)
	}
	if all {
		s.setUsage(sum)
		s.setContext(context)
	}
	if needsParts(s.last) {
		errs = append(errs, s.readParts(ctx, f.parts(s.last.id)))
	}
	return errors.Join(errs...)
}

// readLegacyMessage gives a message without a role where it cannot be read.
func readLegacyMessage(ctx context.Context, f legacyPaths, name string) (m message, err error) {
	path := filepath.Join(f.messages, name+".json")
	data, err := readLegacyFile(ctx, path)
	if err != nil && !fsread.IsNotExist(err) {
		err = newWarning(path, err)
	} else if err == nil {
		m = parseMessage(data)
	}
	m.id = name
	return m, err
}

// readParts reads the parts of the last message.
func (s *session) readParts(ctx context.Context, dir string) error {
	return eachLegacyPart(ctx, dir, func(p part) bool {
		s.parts = append(s.parts, p)
		s.last.active = max(s.last.active, p.started)
		return true
	})
}

// firstLegacyText is the first text that the person wrote.
func firstLegacyText(ctx context.Context, dir string) (text string, err error) {
	err = eachLegacyPart(ctx, dir, func(p part) bool {
		if p.kind == "text" && !p.hidden {
			text = p.text
		}
		return text == ""
	})
	return text, err
}

// eachLegacyPart visits the parts of a message, oldest first, until visit returns false.
func eachLegacyPart(ctx context.Context, dir string, visit func(part) bool) error {
	names, err := listJSONNames(ctx, dir, "prt_")
	errs := []error{err}
	for _, name := range names {
		data, err := readLegacyPart(ctx, dir, name)
		errs = append(errs, err)
		if data != nil && !visit(parsePart(data)) {
			break
		}
	}
	return errors.Join(errs...)
}

// readLegacyPart gives the JSON of a part; nil where it has vanished or cannot be read.
func readLegacyPart(ctx context.Context, dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name+".json")
	data, err := readLegacyFile(ctx, path)
	if err != nil && !fsread.IsNotExist(err) {
		return nil, newWarning(path, err)
	}
	return data, nil
}

// listJSONNames lists the names of a folder's JSON files, without the ending, oldest first: their ids sort so.
func listJSONNames(ctx context.Context, dir, prefix string) ([]string, error) {
	entries, err := fsread.ReadDir(ctx, dir)
	if err != nil && !fsread.IsNotExist(err) {
		return nil, newWarning(dir, err)
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

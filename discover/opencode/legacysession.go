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

// files are the places of one session's messages and parts.
type files struct {
	messages string
	parts    func(message string) string
}

// filesOf derives them from the path of the session's file.
func filesOf(path, id string) files {
	folder := filepath.Dir(path)
	if filepath.Base(folder) == "info" { // 0.5
		root := filepath.Dir(folder)
		return files{
			filepath.Join(root, "message", id),
			func(m string) string { return filepath.Join(root, "part", id, m) },
		}
	}
	root := filepath.Dir(filepath.Dir(folder))
	return files{
		filepath.Join(root, "message", id),
		func(m string) string { return filepath.Join(root, "part", m) },
	}
}

// loadLegacy reads one session of JSON files; nil if it has vanished. Its errors are warnings; those about messages
// come with the session all the same. Meta: legacy, since current versions of the agent neither list nor resume it;
// slug and projectID as in the database.
func loadLegacy(ctx context.Context, home, path string, want discover.ReadOptions) (*stored, error) {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	data, err := readJSON(ctx, path)
	if fsread.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, warn(path, err)
	}
	s := legacySession(data)
	if s.ID != id {
		return nil, warn(path, errOther)
	}
	s.Agent, s.Path, s.Home = agentName, path, home
	err = s.readFiles(ctx, filesOf(path, id), want)
	s.SetMeta("legacy", true)
	s.finish()
	if want.Full {
		s.fillQuota()
	}
	return s, err
}

func legacySession(data []byte) *stored {
	s := &stored{}
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "id":
			s.ID = v.Text(shortLimit)
		case "title":
			s.Title = titleOf(v.Text(maxText))
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
			s.Created, s.Updated = millis(o.Get("created").Int()), millis(o.Get("updated").Int())
			s.Archived = o.Get("archived").Int() > 0
		}
	}
	if s.Updated.IsZero() {
		s.Updated = s.Created
	}
	return s
}

func legacyHeadless(v jsonl.Value) bool { return runPermission(string(v.Raw())) }

// readFiles adds what the messages say: the last one, the first prompt, and where asked for all of them. A message
// that cannot be read is left out; if it is the last one, the state of the turn is not known.
func (s *stored) readFiles(ctx context.Context, f files, want discover.ReadOptions) error {
	names, err := jsonNames(ctx, f.messages, "msg_")
	errs := []error{err}
	all := want.Tokens || want.Full
	var sum usage
	var context int64
	for i, name := range names {
		last := i == len(names)-1
		if !last && !all && s.prompt != "" {
			continue
		}
		m, err := readMessage(ctx, f, name)
		errs = append(errs, err)
		if !millis(m.created).Before(s.Created) { // else it was copied from the session that this one was forked from
			sum.addAnswer(m)
		}
		if m.tokens.Total > 0 {
			context = m.context()
		}
		if s.prompt == "" && m.role == "user" {
			s.prompt, err = firstText(ctx, f.parts(name))
			errs = append(errs, err)
		}
		if last {
			s.last = &m
		}
		if last && m.cwd == "" && i > 0 { // the person's: where the agent works, only its own say
			before, _ := readMessage(ctx, f, names[i-1])
			m.cwd = before.cwd
		}
		s.Dir = cmp.Or(m.cwd, s.Dir)
	}
	if all {
		s.give(sum)
		s.setContext(context)
	}
	if needsParts(s.last) {
		errs = append(errs, s.readParts(ctx, f.parts(s.last.id)))
	}
	return errors.Join(errs...)
}

// readMessage gives a message without a role where it cannot be read.
func readMessage(ctx context.Context, f files, name string) (m message, err error) {
	path := filepath.Join(f.messages, name+".json")
	data, err := readJSON(ctx, path)
	if err != nil && !fsread.IsNotExist(err) {
		err = warn(path, err)
	} else if err == nil {
		m = parseMessage(data)
	}
	m.id = name
	return m, err
}

// readParts reads the parts of the last message.
func (s *stored) readParts(ctx context.Context, dir string) error {
	return eachPart(ctx, dir, func(p part) bool {
		s.parts = append(s.parts, p)
		s.last.active = max(s.last.active, p.started)
		return true
	})
}

// firstText is the first text that the person wrote.
func firstText(ctx context.Context, dir string) (text string, err error) {
	err = eachPart(ctx, dir, func(p part) bool {
		if p.kind == "text" && !p.hidden {
			text = p.text
		}
		return text == ""
	})
	return text, err
}

// eachPart visits the parts of a message, oldest first, until visit returns false.
func eachPart(ctx context.Context, dir string, visit func(part) bool) error {
	names, err := jsonNames(ctx, dir, "prt_")
	errs := []error{err}
	for _, name := range names {
		data, err := readPart(ctx, dir, name)
		errs = append(errs, err)
		if data != nil && !visit(parsePart(data)) {
			break
		}
	}
	return errors.Join(errs...)
}

// readPart gives the JSON of a part; nil where it has vanished or cannot be read.
func readPart(ctx context.Context, dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name+".json")
	data, err := readJSON(ctx, path)
	if err != nil && !fsread.IsNotExist(err) {
		return nil, warn(path, err)
	}
	return data, nil
}

// jsonNames lists the names of a folder's JSON files, without the ending, oldest first: their ids sort so.
func jsonNames(ctx context.Context, dir, prefix string) ([]string, error) {
	entries, err := fsread.ReadDir(ctx, dir)
	if err != nil && !fsread.IsNotExist(err) {
		return nil, warn(dir, err)
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

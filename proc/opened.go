package proc

// opened is what a process had open when it was last asked: the names of all descriptors, and the files that were asked
// for so far.
type opened struct {
	read  bool
	names []string // as match is shown them
	files []OpenFile
	taken map[string]bool // the names of the files
	err   error
}

// get returns the files that match accepts. It asks again if one is accepted that nobody was told of before.
func (o *opened) get(match func(string) bool, ask func(match func(string) bool) ([]OpenFile, error)) ([]OpenFile, error) {
	wanted, known := map[string]bool{}, true
	for _, name := range o.names {
		wanted[name] = match(name)
		known = known && (o.taken[name] || !wanted[name])
	}
	if o.err == nil && !(o.read && known) {
		wanted = o.take(match, ask)
	}
	if o.err != nil {
		return nil, o.err
	}
	var files []OpenFile
	for _, f := range o.files {
		if wanted[f.Path] {
			files = append(files, f)
		}
	}
	return files, nil
}

// take asks for what is wanted, and again for what others have wanted: what is kept is of one reading.
func (o *opened) take(match func(string) bool, ask func(match func(string) bool) ([]OpenFile, error)) (wanted map[string]bool) {
	wanted = map[string]bool{}
	now := opened{read: true, taken: map[string]bool{}}
	now.files, now.err = ask(func(name string) bool {
		now.names = append(now.names, name)
		wanted[name] = match(name)
		now.taken[name] = wanted[name] || o.taken[name]
		return now.taken[name]
	})
	*o = now
	return wanted
}

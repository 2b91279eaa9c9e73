package discover

// stored makes a row of every record, as if no process ran it: of almost all that is so. It returns the records too that a
// claim may speak of, and those that may have been read twice. Of one read twice, only the row that counts has its record.
func (j *join) stored(records [][]Record) (out []Session, named namesakes) {
	n := 0
	for _, list := range records {
		n += len(list)
	}
	out = make([]Session, 0, n+len(j.of)+len(j.presences))
	count := make(map[string]int, n)
	for _, list := range records {
		for i := range list {
			s := Session{Record: &list[i]}
			s.judge(decideStopped(&s.Turn))
			out = append(out, s)
			count[s.ID]++
		}
	}
	for name := range j.named {
		count[name.id]++
	}
	var places []int
	for i := range out {
		if count[out[i].ID] > 1 {
			places = append(places, i)
		}
	}
	return out, namesakesIn(out, places)
}

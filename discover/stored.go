package discover

// stored makes a row of every record, as if no process ran it: of almost all that is so. It returns the records too that a
// claim may speak of. Of one read twice, only the row that counts has its record.
func (j *join) stored(records [][]Record) (out []Session, named namesakes) {
	n := 0
	for _, list := range records {
		n += len(list)
	}
	out = make([]Session, n, n+len(j.of)+len(j.presences))
	tails := make([]uint64, n)
	from := 0
	for _, list := range records {
		rows, tails := out[from:], tails[from:]
		apart(len(list), func(i int) {
			r := &list[i]
			rows[i].Record, tails[i] = r, tail(r.ID)
			rows[i].judge(decideStopped(&r.Turn))
		})
		from += len(list)
	}
	return out, namesakesIn(out, j.oftenNamed(tails))
}

// oftenNamed are the places of the records that claims may speak of, or that may have been read twice, by the tails of their
// names.
func (j *join) oftenNamed(tails []uint64) (places []int) {
	often := newRepeated(len(tails))
	for _, t := range tails {
		often.add(t)
	}
	for n := range j.named {
		often.add(tail(n.id))
	}
	for at, t := range tails {
		if often.has(t) {
			places = append(places, at)
		}
	}
	return places
}

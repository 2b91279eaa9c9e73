package native

// Spliced is the file as if it began with these bytes and went on with what it has from resume on: what lies between is
// not read. The line readers' first read brings these bytes alone. It shares them and f's open file: close f, not the
// spliced one, of which a scratch has one at a time. Not for a file that is [File.AtHand].
func (f *File) Spliced(begin []byte, resume int64) *File {
	var spliced *File
	if f.scratch != nil {
		spliced = &f.scratch.spliced
	} else {
		spliced = new(File)
	}
	*spliced = *f
	spliced.begin, spliced.resume = begin, resume
	spliced.size = int64(len(begin)) + max(f.size-resume, 0)
	spliced.Expect(int64(len(begin)))
	return spliced
}

package proc

// listeners asks for the listeners of our own network namespace. The processes of a table share one answer: each would ask
// for those of all the others as well.
type listeners func() ([]listener, error)

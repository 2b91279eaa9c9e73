package launch

// Plan asks the agent how a request is carried out. No command is started with the paths of a home that is not ours: a
// session is gone on with only if it may be acted on. Errors: [*discover.UntrustedError] and those of [Adapter.Spec].
func Plan(a Adapter, r Request, h Environment) (Spec, error) {
	if r.Resume != nil {
		if err := r.Resume.CheckTrust("resume"); err != nil {
			return Spec{}, err
		}
	}
	return a.Spec(r, h)
}

package proc

import "golang.org/x/sys/unix"

func (xnu) holder(p Process, c connection) (holder, error) {
	return ask(p, func(pid int) (holder, error) {
		if c.local() {
			listens, err := unix.GetsockoptInt(c.fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
			if err != nil {
				return byNobody, err
			}
			cred, err := unix.GetsockoptXucred(c.fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
			if err != nil {
				return byNobody, err
			}
			return holderBy(p, listens, int(cred.Uid)), nil
		}
		by := byOther // the system tells of each process alone: whether nobody has accepted it so far cannot be asked
		err := eachFD(pid, fdSocket, flavorFDSocket, socketSize, func(_ int, raw []byte) error {
			local, remote, err := parseEnds(raw)
			if local == c.theirs && remote == c.ours {
				by = byProcess
			}
			return err
		})
		return by, err
	})
}

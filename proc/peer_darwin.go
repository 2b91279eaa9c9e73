package proc

import "golang.org/x/sys/unix"

func (xnu) peer(p Process, c connection) (peer, error) {
	return verified(p, func(pid int) (peer, error) {
		if c.local() {
			listens, err := unix.GetsockoptInt(c.fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
			if err != nil {
				return peerPending, err
			}
			cred, err := unix.GetsockoptXucred(c.fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
			if err != nil {
				return peerPending, err
			}
			return comparePeer(p, listens, int(cred.Uid)), nil
		}
		by := peerOther // macOS lists the sockets of one process only, so that peerPending cannot be told apart
		err := eachFD(pid, fdSocket, flavorFDSocket, socketSize, func(_ int, raw []byte) error {
			local, remote, err := parseEnds(raw)
			if local == c.theirs && remote == c.ours {
				by = peerProcess
			}
			return err
		})
		return by, err
	})
}

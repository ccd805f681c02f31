package native

import "golang.org/x/sys/unix"

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// sessionMembers lists the processes of a session without its leader and without zombies.
func sessionMembers(leader int) ([]int, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var members []int
	for i := range all {
		pid := int(all[i].Proc.P_pid)
		if pid == leader || all[i].Proc.P_stat == zombie {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid == leader {
			members = append(members, pid)
		}
	}
	return members, nil
}

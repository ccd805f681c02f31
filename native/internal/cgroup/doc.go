// Package cgroup makes Linux control groups for the native tier: one group for each cell, with a memory limit, a limit
// of processes, and the figures of a run.
//
// It speaks both versions of the kernel's interface. Version 2 is used where a subtree with the memory and pids
// controllers is delegated to this process, version 1 where its controllers are mounted. [Find] tries and says what was
// refused.
//
// # Where the groups are made
//
// Groups are children of the group that this process is in, in each hierarchy. The limits of our own group therefore
// bind our cells too. Their names are
//
//	sandbar-<pid>-<start time>-<namespaces>-<name>
//
// with the pid and start time of this process, so that [Sweep] can tell which ones a dead process left behind. The
// namespaces are the inode numbers of its pid and time namespaces: a pid means nothing in another one, and groups of a
// process whose namespaces are not ours are left alone.
//
// # Version 2 and the process that embeds us
//
// A group of version 2 gives controllers to its children only when no process is in the group itself. This process is
// in it, so Find makes a leaf child "sandbar-host", moves the processes of the group there, and enables the controllers.
// No limit is ever put on that leaf, and it stays when this process ends, because we are in it. Find does so only if
//
//   - the group is ours to manage: systemd marked it as delegated (extended attribute user.delegate or
//     trusted.delegate), or it is the root of a cgroup namespace other than the host's, as in a container, or it belongs
//     to our user and that user is not root;
//   - every process in it is this one or a descendant of it.
//
// Otherwise Find returns [Unavailable] and moves nothing. A process that was put into a child of the delegated group
// beforehand (DelegateSubgroup= of systemd, or "sandbar-host" by an earlier Find) needs no move: its groups become
// siblings of that child.
//
// # What it does not do
//
// A limit of memory or processes is no boundary against code in the group that may write to the cgroup file system.
// The cell must not have it mounted.
//
// Sources: the kernel's admin-guide/cgroup-v1 and admin-guide/cgroup-v2, cgroups(7), cgroup_namespaces(7), and systemd's
// "Control Group APIs and Delegation".
package cgroup

/*
 * The system calls that a sandbox refuses whatever their arguments are, with arguments that do nothing where it does
 * not: bad pointers, bad descriptors, questions. CALL(name, a, b, c, d, e) for each; the includer has included the
 * numbers of an architecture and gets -1 for what that one does not have.
 */
#ifndef CALLS_H
#define CALLS_H

/* Numbers from 424 on are the same on every architecture; headers of old distributions lack the last ones. */
#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif
#ifndef __NR_statmount
#define __NR_statmount 457
#define __NR_listmount 458
#define __NR_lsm_get_self_attr 459
#define __NR_lsm_set_self_attr 460
#define __NR_lsm_list_modules 461
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif

#ifndef __NR_uselib /* amd64 and i386 have these */
#define __NR_iopl -1
#define __NR_ioperm -1
#define __NR_modify_ldt -1
#define __NR_uselib -1
#define __NR_ustat -1
#define __NR_sysfs -1
#endif
#ifndef __NR__sysctl
#define __NR__sysctl -1
#endif
#ifndef __NR_kexec_file_load /* not on i386 */
#define __NR_kexec_file_load -1
#endif
#ifndef __NR_umount2
#define __NR_umount2 __NR_umount
#endif

#define CALLS \
	CALL(clone3, 0, 0, 0, 0, 0) \
	CALL(setns, -1, 0, 0, 0, 0) \
	CALL(io_uring_setup, 0, 0, 0, 0, 0) \
	CALL(io_uring_enter, -1, 0, 0, 0, 0) \
	CALL(io_uring_register, -1, 0, 0, 0, 0) \
	CALL(mount, 0, 0, 0, 0, 0) \
	CALL(umount2, 0, 0, 0, 0, 0) \
	CALL(pivot_root, 0, 0, 0, 0, 0) \
	CALL(chroot, 0, 0, 0, 0, 0) \
	CALL(fsopen, 0, 0, 0, 0, 0) \
	CALL(fsconfig, -1, 0, 0, 0, 0) \
	CALL(fsmount, -1, 0, 0, 0, 0) \
	CALL(fspick, -1, 0, 0, 0, 0) \
	CALL(move_mount, -1, 0, -1, 0, 0) \
	CALL(open_tree, -1, 0, 0, 0, 0) \
	CALL(open_tree_attr, -1, 0, 0, 0, 0) \
	CALL(mount_setattr, -1, 0, 0, 0, 0) \
	CALL(statmount, 0, 0, 0, 0, 0) \
	CALL(listmount, 0, 0, 0, 0, 0) \
	CALL(quotactl, 0, 0, 0, 0, 0) \
	CALL(quotactl_fd, -1, 0, 0, 0, 0) \
	CALL(ptrace, 2, 0, 0, 0, 0) \
	CALL(process_vm_readv, 0, 0, 0, 0, 0) \
	CALL(process_vm_writev, 0, 0, 0, 0, 0) \
	CALL(process_madvise, -1, 0, 0, 0, 0) \
	CALL(kcmp, 0, 0, 0, 0, 0) \
	CALL(pidfd_getfd, -1, 0, 0, 0, 0) \
	CALL(perf_event_open, 0, 0, 0, 0, 0) \
	CALL(bpf, 1, 0, 0, 0, 0) /* look up in the map of no descriptor */ \
	CALL(userfaultfd, 1, 0, 0, 0, 0) /* for user mode only */ \
	CALL(lookup_dcookie, 0, 0, 0, 0, 0) \
	CALL(fanotify_init, 0x200, 0, 0, 0, 0) /* with file handles, as anybody may */ \
	CALL(add_key, 0, 0, 0, 0, 0) \
	CALL(request_key, 0, 0, 0, 0, 0) \
	CALL(keyctl, -1, 0, 0, 0, 0) \
	CALL(kexec_load, 0, 0, 0, -1, 0) \
	CALL(kexec_file_load, -1, -1, 0, 0, -1) \
	CALL(init_module, 0, 0, 0, 0, 0) \
	CALL(finit_module, -1, 0, 0, 0, 0) \
	CALL(delete_module, 0, 0, 0, 0, 0) \
	CALL(reboot, 0, 0, 0, 0, 0) /* without its magic numbers */ \
	CALL(syslog, 10, 0, 0, 0, 0) /* the size of the buffer */ \
	CALL(acct, -1, 0, 0, 0, 0) \
	CALL(swapon, 0, -1, 0, 0, 0) \
	CALL(swapoff, 0, 0, 0, 0, 0) \
	CALL(settimeofday, 1, 1, 0, 0, 0) \
	CALL(clock_settime, 0, 0, 0, 0, 0) \
	CALL(clock_adjtime, 0, 0, 0, 0, 0) \
	CALL(adjtimex, 0, 0, 0, 0, 0) \
	CALL(sethostname, 0, -1, 0, 0, 0) \
	CALL(setdomainname, 0, -1, 0, 0, 0) \
	CALL(vhangup, 0, 0, 0, 0, 0) \
	CALL(modify_ldt, 0, 0, 0, 0, 0) /* read nothing */ \
	CALL(nfsservctl, -1, 0, 0, 0, 0) \
	CALL(uselib, 0, 0, 0, 0, 0) \
	CALL(ustat, 0, 0, 0, 0, 0) \
	CALL(sysfs, 3, 0, 0, 0, 0) /* the number of file systems */ \
	CALL(_sysctl, 0, 0, 0, 0, 0) \
	CALL(lsm_get_self_attr, 0, 0, 0, 0, 0) \
	CALL(lsm_set_self_attr, 0, 0, 0, 0, 0) \
	CALL(lsm_list_modules, 0, 0, 0, 0, 0) \
	CALL(iopl, 0, 0, 0, 0, 0) /* no level */ \
	CALL(ioperm, 0, 0, 0, 0, 0) \
	CALL(migrate_pages, 0, 0, 0, 0, 0) \
	CALL(move_pages, 0, 0, 0, 0, 0) \
	CALL(remap_file_pages, 0, 0, 0, 0, 0) \
	CALL(memfd_secret, -1, 0, 0, 0, 0) \
	CALL(process_mrelease, -1, 0, 0, 0, 0) \
	CALL(openat2, -1, 0, 0, 0, 0) \
	CALL(name_to_handle_at, -1, 0, 0, 0, 0) \
	CALL(open_by_handle_at, -1, 0, 0, 0, 0)

#endif

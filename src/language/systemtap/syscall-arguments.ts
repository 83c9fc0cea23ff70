// The system calls of x86-64 as SystemTap's library has their arguments: `stap -L 'syscall.*'` of 5.6 names them, the
// kernel's tracepoints of system calls tell their order and types.

/** A call by SystemTap's name, with the kernel's where that is another; then its arguments with what each is (syscalls.ts). */
const written = `
accept sockfd:i addr:p addrlen:p
accept4 sockfd:i addr:p addrlen:p flags:F/socktype
access pathname:s mode:F/access
acct filename:s
add_key type:p description:p payload:p plen:u ringid:d
adjtimex buf:p
alarm seconds:u
arch_prctl code:F/arch addr:p
bind sockfd:i my_addr:a addrlen:i
bpf cmd:F/bpf attr:p size:u
brk brk:x
cachestat fd:i cstat_range:p cstat:p flags:x
capget header:p data:p
capset header:p data:p
chdir path:s
chmod path:s mode:o
chown path:s owner:d group:d
chroot path:s
clock_adjtime clk_id:F/clock tx:p
clock_getres clk_id:F/clock res:p
clock_gettime clk_id:F/clock tp:p
clock_nanosleep clk_id:F/clock flags:F/timer req:t rem:p
clock_settime clk_id:F/clock tp:t
clone clone_flags:F/clone stack_start:p parent_tid:p child_tid:p tls:p
clone3 uargs:p size:u
close fd:i
close_range fd:i max_fd:u flags:x
connect sockfd:i serv_addr:a addrlen:i
copy_file_range fd_in:i off_in:p fd_out:i off_out:p len:u flags:x
creat pathname:s mode:o
dup oldfd:i
dup2 oldfd:i newfd:i flags:0
dup3 oldfd:i newfd:i flags:F/descriptor
epoll_create size:i flags:0
epoll_create1 flags:F/descriptor
epoll_ctl epfd:i op:F/epoll fd:i event:p
epoll_pwait epfd:i events:p maxevents:i timeout:i sigmask:p sigsetsize:u
epoll_pwait2 epfd:i events:p maxevents:i timeout:p sigmask:p sigsetsize:u
epoll_wait epfd:i events:p maxevents:i timeout:i
eventfd count:u flags:0
eventfd2 count:u flags:F/descriptor
execve filename:s args:v env:p
execveat dirfd:D filename:s args:v env:p flags:F/at
exit status:i
exit_group status:i
faccessat dirfd:D pathname:s mode:F/access
faccessat2 dirfd:D pathname:s mode:F/access flags:F/at
fadvise64 fd:i offset:d len:u advice:F/fadvise
fallocate fd:i mode:F/fallocate offset:d len:d
fanotify_init flags:F/faninit event_f_flags:F/open
fanotify_mark fanotify_fd:i flags:F/fanmark mask:F/fanmask dirfd:D pathname:s
fchdir fd:i
fchmod fildes:i mode:o
fchmodat dirfd:D pathname:s mode:o
fchmodat2 dfd:D filename:s mode:o flags:x
fchown fd:i owner:d group:d
fchownat dirfd:D pathname:s owner:d group:d flags:F/at
fcntl fd:i cmd:F/fcntl arg:x
fdatasync fd:i
fgetxattr filedes:i name_str:s value:p size:u
file_getattr dfd:D filename_str:s ufattr:p usize:u at_flags:x
file_setattr dfd:D filename_str:s ufattr:p usize:u at_flags:x
flistxattr filedes:i list:p size:u
flock fd:i operation:u
fork
fremovexattr filedes:i name_str:s
fsconfig fd:i cmd:u key:s value:p aux:i
fsetxattr filedes:i name_str:s value:p size:u flags:F/xattr
fsmount fs_fd:i flags:x attr_flags:x
fsopen fs_name:s flags:x
fspick dfd:D path:s flags:x
fstatfs fd:i buf:p
fsync fd:i
ftruncate fd:i length:d
futex futex:p op:F/futex val:u utime:p uaddr2:p val3:u
futex_requeue waiters:p flags:x nr_wake:i nr_requeue:i
futex_wait uaddr:p val:u mask:u flags:x timeout:p clockid:d
futex_waitv waiters:p nr_futexes:u flags:x timeout:p clockid:d
futex_wake uaddr:p mask:u nr:i flags:x
futimesat dirfd:D filename:s tvp:p
get_mempolicy policy:p nmask:p maxnode:u addr:x flags:x
get_robust_list pid:i list_head:p len:p
getcpu cpu:p node:p tcache:p
getcwd buf:p size:u
getdents fd:i dirp:p count:u
getdents64 fd:i dirent:p count:u
getegid
geteuid
getgid
getgroups size:i list:p
getitimer which:i value:p
getpeername s:i name:p namelen:p
getpgid pid:i
getpgrp
getpid
getppid
getpriority which:F/prio who:i
getrandom buf:p count:u flags:F/getrandom
getresgid rgid:p egid:p sgid:p
getresuid ruid:p euid:p suid:p
getrlimit resource:F/rlimit rlim:p
getrusage who:F/rusage usage:p
getsid pid:i
getsockname s:i name:p namelen:p
getsockopt fd:i level:F/level optname:O optval:p optlen:p
gettid
gettimeofday tv:p tz:p
getuid
getxattr path:s name_str:s value:p size:u
getxattrat dfd:D pathname:s at_flags:x name:s uargs:p usize:u
inotify_add_watch fd:i mask:F/inotify path:s
inotify_init flags:0
inotify_init1 flags:F/descriptor
inotify_rm_watch fd:i wd:i
io_cancel ctx_id:d iocb:p result:p
io_destroy ctx:d
io_getevents ctx_id:d min_nr:d nr:d events:p timeout:p
io_pgetevents ctx_id:d min_nr:d nr:d events:p timeout:p usig:p
io_setup maxevents:u ctxp:p
io_submit ctx_id:d nr:d iocbpp:p
io_uring_enter fd:i to_submit:u min_complete:u flags:x argp:p argsz:u
io_uring_register fd:i opcode:u arg:p nr_args:u
io_uring_setup entries:u params:p
ioctl fd:i request:x argp:p
ioperm from:u num:u turn_on:i
iopl level:u
ioprio_get which:F/ioprio who:i
ioprio_set which:F/ioprio who:i ioprio:x
kcmp pid1:i pid2:i type:F/kcmp idx1:u idx2:u
keyctl option:i arg2:u arg3:u arg4:u arg5:u
kill pid:i sig:S
landlock_add_rule ruleset_fd:i rule_type:d rule_attr:p flags:x
landlock_create_ruleset attr:p size:u flags:x
landlock_restrict_self ruleset_fd:i flags:x
lchown path:s owner:d group:d
lgetxattr path:s name_str:s value:p size:u
link oldpath:s newpath:s
linkat olddirfd:D oldpath:s newdirfd:D newpath:s flags:F/at
listen sockfd:i backlog:i
listmount req:p mnt_ids:p nr_mnt_ids:u flags:x
listxattr path:s list:p size:u
listxattrat dfd:D pathname:s at_flags:x list:s size:u
llistxattr path:s list:p size:u
lremovexattr path:s name_str:s
lseek fildes:i offset:d whence:F/whence
lsetxattr path:s name_str:s value:p size:u flags:F/xattr
lsm_get_self_attr attr:u ctx:p size:p flags:x
lsm_list_modules ids:p size:p flags:x
lsm_set_self_attr attr:u ctx:p size:u flags:x
madvise start:p length:u advice:F/madvise
mbind start:x len:u mode:x nmask:p maxnode:u flags:x
membarrier cmd:F/membarrier flags:x cpu_id:i
memfd_create uname:s flags:F/memfd
memfd_secret flags:x
migrate_pages pid:i maxnode:u old_nodes:p new_nodes:p
mincore start:x length:u vec:p
mkdir pathname:s mode:o
mkdirat dirfd:D pathname:s mode:o
mknod pathname:s mode:o dev:u
mknodat dirfd:D pathname:s mode:o dev:u
mlock addr:x len:u
mlock2 addr:x len:u flags:F/mlock2
mlockall flags:F/mlockall
mmap2=mmap start:p length:u prot:F/prot flags:F/map fd:i pgoffset:x
modify_ldt func:i ptr:p bytecount:u
mount source:s target:s filesystemtype:s mountflags:F/mount data:s
mount_setattr dfd:D path:s flags:x uattr:p usize:u
move_mount from_dfd:D from_pathname:s to_dfd:D to_pathname:s flags:x
move_pages pid:i nr_pages:u pages:p nodes:p status:p flags:F/movepages
mprotect addr:p len:u prot:F/prot
mq_getsetattr mqdes:i u_mqstat:p u_omqstat:p
mq_notify mqdes:i notification:p
mq_open filename:s oflag:F/open mode:o u_attr:p
mq_timedreceive mqdes:i msg_ptr:p msg_len:u msg_prio:p abs_timeout:p
mq_timedsend mqdes:i msg_ptr:p msg_len:u msg_prio:u abs_timeout:p
mq_unlink u_name:s
mremap old_address:p old_size:u new_size:u flags:F/mremap new_address:p
mseal start:x len:u flags:x
msgctl msqid:i cmd:F/ipccmd buf:p
msgget key:x msgflg:x
msgrcv msqid:i msgp:p msgsz:u msgtyp:d msgflg:x
msgsnd msqid:i msgp:p msgsz:u msgflg:x
msync start:p length:u flags:F/msync
munlock addr:x len:u
munlockall
munmap start:p length:u
name_to_handle_at dfd:D pathname:s handle:p mnt_id:p flags:F/at
nanosleep req:t rem:p
fstat=newfstat filedes:i buf:p
fstatat=newfstatat dirfd:D path:s buf:p flags:F/at
lstat=newlstat path:s buf:p
stat=newstat filename:s buf:p
uname=newuname name:p
open filename:s flags:F/open mode:c
open_by_handle_at mount_dfd:D handle:p flags:F/open
open_tree dfd:D filename:s flags:x
open_tree_attr dfd:D filename:s flags:x uattr:p usize:u
openat dfd:D filename:s flags:F/open mode:c
openat2 dfd:D filename:s how:p usize:u
pause
perf_event_open attr:p pid:i cpu:i group_fd:i flags:F/perf
personality persona:u
pidfd_getfd pidfd:i fd:i flags:x
pidfd_open pid:i flags:x
pidfd_send_signal pidfd:i sig:i info:p flags:x
pipe fildes:p flags:0
pipe2 fildes:p flags:F/descriptor
pivot_root new_root_str:s old_root_str:s
pkey_alloc flags:x init_val:x
pkey_free pkey:i
pkey_mprotect addr:x len:u prot:F/prot pkey:i
poll ufds:p nfds:u timeout:i
ppoll fds:p nfds:u tsp:t sigmask:p sigsetsize:u
prctl option:i arg2:u arg3:u arg4:u arg5:u
pread=pread64 fd:i buf:p count:u offset:d
preadv fd:i vector:p count:u offset:d
preadv2 fd:i vector:p count:u offset:d _:u flags:F/rwf
prlimit64 pid:i resource:F/rlimit new_rlim:p old_rlim:p
process_madvise pidfd:i vec:p vlen:u behavior:i flags:x
process_mrelease pidfd:i flags:x
process_vm_readv pid:i local_iov:p liovcnt:u remote_iov:p riovcnt:u flags:x
process_vm_writev pid:i local_iov:p liovcnt:u remote_iov:p riovcnt:u flags:x
pselect6 nfds:i readfds:p writefds:p exceptfds:p timeout:t sigmask:p
ptrace request:d pid:d addr:p data:p
pwrite=pwrite64 fd:i buf:b count:u offset:d
pwritev fd:i vector:p count:u offset:d
pwritev2 fd:i vector:p count:u offset:d _:u flags:F/rwf
quotactl cmd:x special_str:s id:i addr:p
quotactl_fd fd:i cmd:u id:i addr:p
read fd:i buf:p count:u
readahead fd:i offset:d count:u
readlink path:s buf:p bufsiz:i
readlinkat dfd:D path:s buf:p bufsiz:i
readv fd:i vector:p count:u
reboot magic:x magic2:x flag:x arg:p
recvfrom s:i buf:p len:u flags:F/msg addr:p addrlen:p
recvmmsg s:i mmsg:p vlen:u flags:F/msg timeout:t
recvmsg s:i msg:p flags:F/msg
remap_file_pages start:x size:u prot:F/prot pgoff:u flags:F/map
removexattr path:s name_str:s
removexattrat dfd:D pathname:s at_flags:x name:s
rename oldpath:s newpath:s
renameat olddfd:D oldname_str:s newdfd:D newname_str:s
renameat2 olddfd:D oldname_str:s newdfd:D newname_str:s flags:F/rename
request_key type_str:s description_str:s callout_info_str:s destringid:d
restart_syscall
rmdir pathname:s
rseq rseq:p rseq_len:u flags:i sig:u
rt_sigaction sig:S act:p oact:p sigsetsize:u
rt_sigpending set:p sigsetsize:u
rt_sigprocmask how:F/sighow set:p oldset:p sigsetsize:u
rt_sigqueueinfo pid:i sig:S uinfo:p
rt_sigreturn
rt_sigsuspend set:p sigsetsize:u
rt_sigtimedwait uthese:p uinfo:p uts:t sigsetsize:u
rt_tgsigqueueinfo tgid:i tid:i sig:S uinfo:p
sched_get_priority_max policy:F/policy
sched_get_priority_min policy:F/policy
sched_getaffinity pid:i len:u mask:p
sched_getattr pid:i sched_attr:p size:u flags:x
sched_getparam pid:i p:p
sched_getscheduler pid:i
sched_rr_get_interval pid:i tp:p
sched_setaffinity pid:i len:u mask:p
sched_setattr pid:i sched_attr:p flags:x
sched_setparam pid:i p:p
sched_setscheduler pid:i policy:F/policy p:p
sched_yield
seccomp op:F/seccomp flags:F/seccompflags uargs:p
select n:i readfds:p writefds:p exceptfds:p timeout:p
semctl semid:i semnum:i cmd:x arg:x
semget key:x nsems:i semflg:x
semop semid:i sops:p nsops:u
semtimedop semid:i sops:p nsops:u timeout:t
sendfile=sendfile64 out_fd:i in_fd:i offset:p count:u
sendmmsg s:i mmsg:p vlen:u flags:F/msg
sendmsg s:i msg:p flags:F/msg
sendto s:i buf:b len:u flags:F/msg to:a tolen:i
set_mempolicy mode:x nmask:p maxnode:u
set_mempolicy_home_node start:x len:u home_node:u flags:x
set_robust_list list_head:p len:u
set_tid_address tidptr:p
setdomainname domainname_str:s len:i
setfsgid fsgid:d
setfsuid fsuid:d
setgid gid:d
setgroups size:i list:p
sethostname name_str:s len:i
setitimer which:F/itimer value:p ovalue:p
setns fd:i nstype:F/clone
setpgid pid:i pgid:i
setpriority which:F/prio who:i prio:i
setregid rgid:d egid:d
setresgid rgid:d egid:d sgid:d
setresuid ruid:d euid:d suid:d
setreuid ruid:d euid:d
setrlimit resource:F/rlimit rlim:p
setsid
setsockopt fd:i level:F/level optname:O optval:p optlen:i
settimeofday tv:p tz:p
setuid uid:d
setxattr path:s name_str:s value:p size:u flags:F/xattr
setxattrat dfd:D pathname:s at_flags:x name:s uargs:p usize:u
shmat shmid:i shmaddr:p shmflg:F/shmat
shmctl shmid:i cmd:F/shmcmd buf:p
shmdt shmaddr:p
shmget key:i size:u shmflg:x
shutdown s:i how:F/shutdown
sigaltstack uss:p uoss:p
signalfd ufd:i user_mask:p sizemask:u flags:0
signalfd4 ufd:i user_mask:p sizemask:u flags:F/descriptor
socket family:F/family type:F/socktype protocol:F/protocol
socketpair family:F/family type:F/socktype protocol:F/protocol sv:p
splice fd_in:i off_in:p fd_out:i off_out:p len:u flags:F/splice
statfs path:s buf:p
statmount req:p buf:p bufsize:u flags:x
statx dfd:D filename:s flags:F/at mask:F/statx buf:p
swapoff path:s
swapon path:s swapflags:F/swapon
symlink oldpath:s newpath:s
symlinkat oldname_str:s newdfd:D newname_str:s
sync
sync_file_range fd:i offset:d nbytes:d flags:F/syncrange
syncfs fd:i
sysfs option:i arg1:u arg2:u
sysinfo info:p
syslog type:i bufp:p len:i
tee fdin:i fdout:i len:u flags:F/splice
tgkill tgid:i pid:i sig:S
time t:p
timer_create clockid:F/clock evp:p timerid:p
timer_delete timerid:d
timer_getoverrun timerid:d
timer_gettime timerid:d value:p
timer_settime timerid:d flags:x value:p ovalue:p
timerfd_create clockid:F/clock flags:F/timerfd
timerfd_gettime fd:i value:p
timerfd_settime fd:i flags:F/timer value:p ovalue:p
times buf:p
tkill pid:i sig:S
truncate path:s length:d
umask mask:o
umount target:s flags:F/umount
unlink pathname:s
unlinkat dfd:D pathname_str:s flag:F/unlinkat
unshare unshare_flags:F/clone
userfaultfd flags:F/userfault
ustat dev:u ubuf:p
utime filename:s buf:p
utimensat dfd:D filename:s tsp:p flags:F/at
utimes filename:s tvp:p
vfork
vhangup
vmsplice fd:i iov:p nr_segs:u flags:F/splice
wait4 pid:i status:p options:F/wait rusage:p
waitid which:F/waitid pid:i infop:p options:F/wait rusage:p
write fd:i buf:b count:u
writev fd:i vector:p count:u
`;

export interface SystemCall {
  readonly name: string;
  /** In the kernel's tracepoints. */
  readonly kernel: string;
  readonly arguments: readonly { readonly name: string; readonly kind: string }[];
}

export const systemCalls: readonly SystemCall[] = written
  .trim()
  .split("\n")
  .map((line) => {
    const [head = "", ...parts] = line.split(" ");
    const [name = "", kernel = name] = head.split("=");
    return {
      name,
      kernel,
      arguments: parts.map((part) => {
        const [of = "", kind = ""] = part.split(":");
        return { name: of, kind };
      }),
    };
  });

/**
 * Names of flags, as flagNames() of host-texts.ts takes them: the bits in which one of several values is, those, and the
 * flags beside them. From the kernel's headers for user space.
 */
export const flagWords: Readonly<Record<string, string>> = {
  open: "3:O_RDONLY=0,O_WRONLY=1,O_RDWR=2|O_CREAT=0x40,O_EXCL=0x80,O_NOCTTY=0x100,O_TRUNC=0x200,O_APPEND=0x400,O_NONBLOCK=0x800,O_SYNC=0x101000,O_DSYNC=0x1000,O_DIRECT=0x4000,O_LARGEFILE=0x8000,O_TMPFILE=0x410000,O_DIRECTORY=0x10000,O_NOFOLLOW=0x20000,O_NOATIME=0x40000,O_CLOEXEC=0x80000,O_PATH=0x200000",
  descriptor: "0:0x0=0|O_NONBLOCK=0x800,O_DIRECT=0x4000,O_CLOEXEC=0x80000",
  access: "0:F_OK=0|R_OK=4,W_OK=2,X_OK=1",
  at: "0:0x0=0|AT_SYMLINK_NOFOLLOW=0x100,AT_REMOVEDIR=0x200,AT_SYMLINK_FOLLOW=0x400,AT_NO_AUTOMOUNT=0x800,AT_EMPTY_PATH=0x1000",
  unlinkat: "0:0x0=0|AT_REMOVEDIR=0x200",
  prot: "0:PROT_NONE=0|PROT_READ=1,PROT_WRITE=2,PROT_EXEC=4,PROT_SEM=8",
  map: "0xf:MAP_SHARED=1,MAP_PRIVATE=2,MAP_SHARED_VALIDATE=3|MAP_FIXED=0x10,MAP_ANONYMOUS=0x20,MAP_32BIT=0x40,MAP_GROWSDOWN=0x100,MAP_DENYWRITE=0x800,MAP_EXECUTABLE=0x1000,MAP_LOCKED=0x2000,MAP_NORESERVE=0x4000,MAP_POPULATE=0x8000,MAP_NONBLOCK=0x10000,MAP_STACK=0x20000,MAP_HUGETLB=0x40000,MAP_SYNC=0x80000,MAP_FIXED_NOREPLACE=0x100000",
  madvise:
    "-1:MADV_NORMAL=0,MADV_RANDOM=1,MADV_SEQUENTIAL=2,MADV_WILLNEED=3,MADV_DONTNEED=4,MADV_FREE=8,MADV_REMOVE=9,MADV_DONTFORK=10,MADV_DOFORK=11,MADV_MERGEABLE=12,MADV_UNMERGEABLE=13,MADV_HUGEPAGE=14,MADV_NOHUGEPAGE=15,MADV_DONTDUMP=16,MADV_DODUMP=17",
  family:
    "-1:AF_UNSPEC=0,AF_LOCAL=1,AF_INET=2,AF_AX25=3,AF_IPX=4,AF_INET6=10,AF_NETLINK=16,AF_PACKET=17,AF_ALG=38,AF_VSOCK=40",
  socktype:
    "0xf:SOCK_STREAM=1,SOCK_DGRAM=2,SOCK_RAW=3,SOCK_RDM=4,SOCK_SEQPACKET=5|SOCK_CLOEXEC=0x80000,SOCK_NONBLOCK=0x800",
  protocol:
    "-1:IPPROTO_IP=0,IPPROTO_ICMP=1,IPPROTO_TCP=6,IPPROTO_UDP=17,IPPROTO_IPV6=41,IPPROTO_ICMPV6=58,IPPROTO_RAW=255",
  shutdown: "-1:SHUT_RD=0,SHUT_WR=1,SHUT_RDWR=2",
  level: "-1:SOL_IP=0,SOL_SOCKET=1,SOL_TCP=6,SOL_UDP=17,SOL_IPV6=41,SOL_RAW=255,SOL_PACKET=263,SOL_NETLINK=270",
  option:
    "-1:SO_DEBUG=1,SO_REUSEADDR=2,SO_TYPE=3,SO_ERROR=4,SO_DONTROUTE=5,SO_BROADCAST=6,SO_SNDBUF=7,SO_RCVBUF=8,SO_KEEPALIVE=9,SO_OOBINLINE=10,SO_PRIORITY=12,SO_LINGER=13,SO_REUSEPORT=15,SO_PASSCRED=16,SO_PEERCRED=17,SO_RCVLOWAT=18,SO_SNDLOWAT=19,SO_RCVTIMEO=20,SO_SNDTIMEO=21",
  tcpoption:
    "-1:TCP_NODELAY=1,TCP_MAXSEG=2,TCP_CORK=3,TCP_KEEPIDLE=4,TCP_KEEPINTVL=5,TCP_KEEPCNT=6,TCP_SYNCNT=7,TCP_LINGER2=8,TCP_DEFER_ACCEPT=9,TCP_WINDOW_CLAMP=10,TCP_INFO=11,TCP_QUICKACK=12,TCP_CONGESTION=13,TCP_MD5SIG=14,TCP_USER_TIMEOUT=18,TCP_REPAIR=19,TCP_FASTOPEN=23,TCP_TIMESTAMP=24,TCP_ULP=31",
  ipoption:
    "-1:IP_TOS=1,IP_TTL=2,IP_HDRINCL=3,IP_OPTIONS=4,IP_RECVOPTS=6,IP_RETOPTS=7,IP_PKTINFO=8,IP_MTU_DISCOVER=10,IP_RECVERR=11,IP_RECVTTL=12,IP_RECVTOS=13,IP_MTU=14,IP_FREEBIND=15,IP_TRANSPARENT=19,IP_MULTICAST_IF=32,IP_MULTICAST_TTL=33,IP_MULTICAST_LOOP=34,IP_ADD_MEMBERSHIP=35,IP_DROP_MEMBERSHIP=36",
  ipv6option:
    "-1:IPV6_UNICAST_HOPS=16,IPV6_MULTICAST_IF=17,IPV6_MULTICAST_HOPS=18,IPV6_MULTICAST_LOOP=19,IPV6_JOIN_GROUP=20,IPV6_LEAVE_GROUP=21,IPV6_MTU_DISCOVER=23,IPV6_MTU=24,IPV6_RECVERR=25,IPV6_V6ONLY=26,IPV6_RECVPKTINFO=49,IPV6_PKTINFO=50,IPV6_RECVHOPLIMIT=51,IPV6_HOPLIMIT=52,IPV6_RECVTCLASS=66,IPV6_TCLASS=67",
  msg: "0:0x0=0|MSG_OOB=1,MSG_PEEK=2,MSG_DONTROUTE=4,MSG_CTRUNC=8,MSG_TRUNC=0x20,MSG_DONTWAIT=0x40,MSG_EOR=0x80,MSG_WAITALL=0x100,MSG_CONFIRM=0x800,MSG_ERRQUEUE=0x2000,MSG_NOSIGNAL=0x4000,MSG_MORE=0x8000,MSG_CMSG_CLOEXEC=0x40000000",
  whence: "-1:SEEK_SET=0,SEEK_CUR=1,SEEK_END=2,SEEK_DATA=3,SEEK_HOLE=4",
  fcntl:
    "-1:F_DUPFD=0,F_GETFD=1,F_SETFD=2,F_GETFL=3,F_SETFL=4,F_GETLK=5,F_SETLK=6,F_SETLKW=7,F_SETOWN=8,F_GETOWN=9,F_SETSIG=10,F_GETSIG=11,F_OFD_GETLK=36,F_OFD_SETLK=37,F_OFD_SETLKW=38,F_SETLEASE=1024,F_GETLEASE=1025,F_NOTIFY=1026,F_DUPFD_CLOEXEC=1030,F_SETPIPE_SZ=1031,F_GETPIPE_SZ=1032,F_ADD_SEALS=1033,F_GET_SEALS=1034",
  wait: "0:0x0=0|WNOHANG=1,WUNTRACED=2,WEXITED=4,WCONTINUED=8,WNOWAIT=0x1000000,__WNOTHREAD=0x20000000,__WALL=0x40000000,__WCLONE=0x80000000",
  waitid: "-1:P_ALL=0,P_PID=1,P_PGID=2,P_PIDFD=3",
  clock:
    "-1:CLOCK_REALTIME=0,CLOCK_MONOTONIC=1,CLOCK_PROCESS_CPUTIME_ID=2,CLOCK_THREAD_CPUTIME_ID=3,CLOCK_MONOTONIC_RAW=4,CLOCK_REALTIME_COARSE=5,CLOCK_MONOTONIC_COARSE=6,CLOCK_BOOTTIME=7,CLOCK_REALTIME_ALARM=8,CLOCK_BOOTTIME_ALARM=9,CLOCK_TAI=11",
  timer: "0:0x0=0|TIMER_ABSTIME=1",
  timerfd: "0:0x0=0|TFD_NONBLOCK=0x800,TFD_CLOEXEC=0x80000",
  clone:
    "0:0x0=0|CLONE_VM=0x100,CLONE_FS=0x200,CLONE_FILES=0x400,CLONE_SIGHAND=0x800,CLONE_PTRACE=0x2000,CLONE_VFORK=0x4000,CLONE_PARENT=0x8000,CLONE_THREAD=0x10000,CLONE_NEWNS=0x20000,CLONE_SYSVSEM=0x40000,CLONE_SETTLS=0x80000,CLONE_PARENT_SETTID=0x100000,CLONE_CHILD_CLEARTID=0x200000,CLONE_UNTRACED=0x800000,CLONE_CHILD_SETTID=0x1000000,CLONE_NEWUTS=0x4000000,CLONE_NEWIPC=0x8000000,CLONE_NEWUSER=0x10000000,CLONE_NEWPID=0x20000000,CLONE_NEWNET=0x40000000,CLONE_IO=0x80000000,SIGCHLD=17",
  sighow: "-1:SIG_BLOCK=0,SIG_UNBLOCK=1,SIG_SETMASK=2",
  rlimit:
    "-1:RLIMIT_CPU=0,RLIMIT_FSIZE=1,RLIMIT_DATA=2,RLIMIT_STACK=3,RLIMIT_CORE=4,RLIMIT_RSS=5,RLIMIT_NPROC=6,RLIMIT_NOFILE=7,RLIMIT_MEMLOCK=8,RLIMIT_AS=9,RLIMIT_LOCKS=10,RLIMIT_SIGPENDING=11,RLIMIT_MSGQUEUE=12,RLIMIT_NICE=13,RLIMIT_RTPRIO=14,RLIMIT_RTTIME=15",
  epoll: "-1:EPOLL_CTL_ADD=1,EPOLL_CTL_DEL=2,EPOLL_CTL_MOD=3",
  prio: "-1:PRIO_PROCESS=0,PRIO_PGRP=1,PRIO_USER=2",
  arch: "-1:ARCH_SET_GS=0x1001,ARCH_SET_FS=0x1002,ARCH_GET_FS=0x1003,ARCH_GET_GS=0x1004",
  futex:
    "0x7f:FUTEX_WAIT=0,FUTEX_WAKE=1,FUTEX_FD=2,FUTEX_REQUEUE=3,FUTEX_CMP_REQUEUE=4,FUTEX_WAKE_OP=5,FUTEX_LOCK_PI=6,FUTEX_UNLOCK_PI=7,FUTEX_TRYLOCK_PI=8,FUTEX_WAIT_BITSET=9,FUTEX_WAKE_BITSET=10,FUTEX_WAIT_REQUEUE_PI=11,FUTEX_CMP_REQUEUE_PI=12|FUTEX_PRIVATE_FLAG=0x80,FUTEX_CLOCK_REALTIME=0x100",
  getrandom: "0:0x0=0|GRND_NONBLOCK=1,GRND_RANDOM=2,GRND_INSECURE=4",
  mlockall: "0:0x0=0|MCL_CURRENT=1,MCL_FUTURE=2,MCL_ONFAULT=4",
  mlock2: "0:0x0=0|MLOCK_ONFAULT=1",
  memfd: "0:0x0=0|MFD_CLOEXEC=1,MFD_ALLOW_SEALING=2,MFD_HUGETLB=4,MFD_NOEXEC_SEAL=8,MFD_EXEC=0x10",
  umount: "0:0x0=0|MNT_FORCE=1,MNT_DETACH=2,MNT_EXPIRE=4,UMOUNT_NOFOLLOW=8",
  mremap: "0:0x0=0|MREMAP_MAYMOVE=1,MREMAP_FIXED=2,MREMAP_DONTUNMAP=4",
  msync: "0:0x0=0|MS_ASYNC=1,MS_INVALIDATE=2,MS_SYNC=4",
  splice: "0:0x0=0|SPLICE_F_MOVE=1,SPLICE_F_NONBLOCK=2,SPLICE_F_MORE=4,SPLICE_F_GIFT=8",
  rename: "0:0x0=0|RENAME_NOREPLACE=1,RENAME_EXCHANGE=2,RENAME_WHITEOUT=4",
  policy: "-1:SCHED_NORMAL=0,SCHED_FIFO=1,SCHED_RR=2,SCHED_BATCH=3,SCHED_IDLE=5,SCHED_DEADLINE=6,SCHED_EXT=7",
  mount:
    "0:0x0=0|MS_RDONLY=1,MS_NOSUID=2,MS_NODEV=4,MS_NOEXEC=8,MS_SYNCHRONOUS=0x10,MS_REMOUNT=0x20,MS_MANDLOCK=0x40,MS_DIRSYNC=0x80,MS_NOATIME=0x400,MS_NODIRATIME=0x800,MS_BIND=0x1000,MS_MOVE=0x2000,MS_REC=0x4000,MS_SILENT=0x8000,MS_POSIXACL=0x10000,MS_UNBINDABLE=0x20000,MS_PRIVATE=0x40000,MS_SLAVE=0x80000,MS_SHARED=0x100000,MS_RELATIME=0x200000,MS_KERNMOUNT=0x400000,MS_I_VERSION=0x800000,MS_STRICTATIME=0x1000000,MS_LAZYTIME=0x2000000",
  itimer: "-1:ITIMER_REAL=0,ITIMER_VIRTUAL=1,ITIMER_PROF=2",
  fallocate:
    "0:0x0=0|FALLOC_FL_KEEP_SIZE=1,FALLOC_FL_PUNCH_HOLE=2,FALLOC_FL_NO_HIDE_STALE=4,FALLOC_FL_COLLAPSE_RANGE=8,FALLOC_FL_ZERO_RANGE=0x10,FALLOC_FL_INSERT_RANGE=0x20,FALLOC_FL_UNSHARE_RANGE=0x40",
  rusage: "-1:RUSAGE_SELF=0,RUSAGE_CHILDREN=0xffffffffffffffff,RUSAGE_THREAD=1",
  kcmp: "-1:KCMP_FILE=0,KCMP_VM=1,KCMP_FILES=2,KCMP_FS=3,KCMP_SIGHAND=4,KCMP_IO=5,KCMP_SYSVSEM=6,KCMP_EPOLL_TFD=7",
  ipccmd: "-1:IPC_RMID=0,IPC_SET=1,IPC_STAT=2,IPC_INFO=3,MSG_STAT=11,MSG_INFO=12",
  shmcmd: "-1:IPC_RMID=0,IPC_SET=1,IPC_STAT=2,IPC_INFO=3,SHM_LOCK=11,SHM_UNLOCK=12,SHM_STAT=13,SHM_INFO=14",
  shmat: "0:0x0=0|SHM_RDONLY=0x1000,SHM_RND=0x2000,SHM_REMAP=0x4000,SHM_EXEC=0x8000",
  ioprio: "-1:IOPRIO_WHO_PROCESS=1,IOPRIO_WHO_PGRP=2,IOPRIO_WHO_USER=3",
  inotify:
    "0:0x0=0|IN_ACCESS=1,IN_MODIFY=2,IN_ATTRIB=4,IN_CLOSE_WRITE=8,IN_CLOSE_NOWRITE=0x10,IN_OPEN=0x20,IN_MOVED_FROM=0x40,IN_MOVED_TO=0x80,IN_CREATE=0x100,IN_DELETE=0x200,IN_DELETE_SELF=0x400,IN_MOVE_SELF=0x800,IN_ONLYDIR=0x1000000,IN_DONT_FOLLOW=0x2000000,IN_EXCL_UNLINK=0x4000000,IN_MASK_ADD=0x20000000,IN_ISDIR=0x40000000,IN_ONESHOT=0x80000000",
  faninit:
    "0:0x0=0|FAN_CLOEXEC=1,FAN_NONBLOCK=2,FAN_CLASS_CONTENT=4,FAN_CLASS_PRE_CONTENT=8,FAN_UNLIMITED_QUEUE=0x10,FAN_UNLIMITED_MARKS=0x20,FAN_ENABLE_AUDIT=0x40",
  fanmark:
    "0:0x0=0|FAN_MARK_ADD=1,FAN_MARK_REMOVE=2,FAN_MARK_DONT_FOLLOW=4,FAN_MARK_ONLYDIR=8,FAN_MARK_MOUNT=0x10,FAN_MARK_IGNORED_MASK=0x20,FAN_MARK_IGNORED_SURV_MODIFY=0x40,FAN_MARK_FLUSH=0x80",
  fanmask:
    "0:0x0=0|FAN_ACCESS=1,FAN_MODIFY=2,FAN_CLOSE_WRITE=8,FAN_CLOSE_NOWRITE=0x10,FAN_OPEN=0x20,FAN_Q_OVERFLOW=0x4000,FAN_OPEN_PERM=0x10000,FAN_ACCESS_PERM=0x20000,FAN_EVENT_ON_CHILD=0x8000000,FAN_ONDIR=0x40000000",
  swapon:
    "0:0x0=0|SWAP_FLAG_PREFER=0x8000,SWAP_FLAG_DISCARD=0x10000,SWAP_FLAG_DISCARD_ONCE=0x20000,SWAP_FLAG_DISCARD_PAGES=0x40000",
  syncrange: "0:0x0=0|SYNC_FILE_RANGE_WAIT_BEFORE=1,SYNC_FILE_RANGE_WRITE=2,SYNC_FILE_RANGE_WAIT_AFTER=4",
  membarrier:
    "-1:MEMBARRIER_CMD_QUERY=0,MEMBARRIER_CMD_GLOBAL=1,MEMBARRIER_CMD_GLOBAL_EXPEDITED=2,MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED=4,MEMBARRIER_CMD_PRIVATE_EXPEDITED=8,MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED=0x10",
  bpf: "-1:BPF_MAP_CREATE=0,BPF_MAP_LOOKUP_ELEM=1,BPF_MAP_UPDATE_ELEM=2,BPF_MAP_DELETE_ELEM=3,BPF_MAP_GET_NEXT_KEY=4,BPF_PROG_LOAD=5,BPF_OBJ_PIN=6,BPF_OBJ_GET=7,BPF_PROG_ATTACH=8,BPF_PROG_DETACH=9,BPF_PROG_TEST_RUN=10,BPF_PROG_GET_NEXT_ID=11,BPF_MAP_GET_NEXT_ID=12,BPF_PROG_GET_FD_BY_ID=13,BPF_MAP_GET_FD_BY_ID=14,BPF_OBJ_GET_INFO_BY_FD=15,BPF_PROG_QUERY=16,BPF_RAW_TRACEPOINT_OPEN=17,BPF_BTF_LOAD=18,BPF_BTF_GET_FD_BY_ID=19,BPF_TASK_FD_QUERY=20,BPF_MAP_LOOKUP_AND_DELETE_ELEM=21,BPF_MAP_FREEZE=22,BPF_BTF_GET_NEXT_ID=23,BPF_MAP_LOOKUP_BATCH=24,BPF_MAP_LOOKUP_AND_DELETE_BATCH=25,BPF_MAP_UPDATE_BATCH=26,BPF_MAP_DELETE_BATCH=27,BPF_LINK_CREATE=28,BPF_LINK_UPDATE=29,BPF_LINK_GET_FD_BY_ID=30,BPF_LINK_GET_NEXT_ID=31,BPF_ENABLE_STATS=32,BPF_ITER_CREATE=33,BPF_LINK_DETACH=34,BPF_PROG_BIND_MAP=35",
  seccomp:
    "-1:SECCOMP_SET_MODE_STRICT=0,SECCOMP_SET_MODE_FILTER=1,SECCOMP_GET_ACTION_AVAIL=2,SECCOMP_GET_NOTIF_SIZES=3",
  seccompflags:
    "0:0x0=0|SECCOMP_FILTER_FLAG_TSYNC=1,SECCOMP_FILTER_FLAG_LOG=2,SECCOMP_FILTER_FLAG_SPEC_ALLOW=4,SECCOMP_FILTER_FLAG_NEW_LISTENER=8,SECCOMP_FILTER_FLAG_TSYNC_ESRCH=0x10",
  perf: "0:0x0=0|PERF_FLAG_FD_NO_GROUP=1,PERF_FLAG_FD_OUTPUT=2,PERF_FLAG_PID_CGROUP=4,PERF_FLAG_FD_CLOEXEC=8",
  xattr: "0:0x0=0|XATTR_CREATE=1,XATTR_REPLACE=2",
  fadvise:
    "-1:POSIX_FADV_NORMAL=0,POSIX_FADV_RANDOM=1,POSIX_FADV_SEQUENTIAL=2,POSIX_FADV_WILLNEED=3,POSIX_FADV_DONTNEED=4,POSIX_FADV_NOREUSE=5",
  movepages: "0:0x0=0|MPOL_MF_STRICT=1,MPOL_MF_MOVE=2,MPOL_MF_MOVE_ALL=4",
  userfault: "0:0x0=0|UFFD_USER_MODE_ONLY=1,O_NONBLOCK=0x800,O_CLOEXEC=0x80000",
  rwf: "0:0x0=0|RWF_HIPRI=1,RWF_DSYNC=2,RWF_SYNC=4,RWF_NOWAIT=8,RWF_APPEND=0x10",
  statx:
    "0:0x0=0|STATX_TYPE=1,STATX_MODE=2,STATX_NLINK=4,STATX_UID=8,STATX_GID=0x10,STATX_ATIME=0x20,STATX_MTIME=0x40,STATX_CTIME=0x80,STATX_INO=0x100,STATX_SIZE=0x200,STATX_BLOCKS=0x400,STATX_BTIME=0x800",
  signal:
    "-1:SIGHUP=1,SIGINT=2,SIGQUIT=3,SIGILL=4,SIGTRAP=5,SIGABRT=6,SIGBUS=7,SIGFPE=8,SIGKILL=9,SIGUSR1=10,SIGSEGV=11,SIGUSR2=12,SIGPIPE=13,SIGALRM=14,SIGTERM=15,SIGSTKFLT=16,SIGCHLD=17,SIGCONT=18,SIGSTOP=19,SIGTSTP=20,SIGTTIN=21,SIGTTOU=22,SIGURG=23,SIGXCPU=24,SIGXFSZ=25,SIGVTALRM=26,SIGPROF=27,SIGWINCH=28,SIGIO=29,SIGPWR=30,SIGSYS=31",
};

// Functions of SystemTap's library that strobe has not: why, and what does the same as nearly as anything.
interface Refused {
  readonly names: string;
  readonly why: string;
  readonly instead: string;
}

const groups: readonly Refused[] = [
  {
    names:
      "set_kernel_char set_kernel_int set_kernel_long set_kernel_pointer set_kernel_short set_kernel_string " +
      "set_kernel_string_n set_user_char set_user_int set_user_long set_user_pointer set_user_short set_user_string " +
      "set_user_string_arg set_user_string_n",
    why: "strobe writes to no memory that it traces",
    instead: "the functions without `set_` read it",
  },
  {
    names:
      "set_int_arg set_long_arg set_longlong_arg set_pointer_arg set_s32_arg set_s64_arg set_u32_arg set_u64_arg " +
      "set_uint_arg set_ulong_arg set_ulonglong_arg set_returnval asmlinkage fastcall regparm",
    why: "strobe changes no call that it traces",
    instead: "the arguments and the result can be read: `int_arg(1)`, `returnval()`",
  },
  {
    names: "panic mdelay udelay",
    why: "what stops or delays the kernel is not possible from a handler",
    instead: "`error()` ends the script, `raise()` sends a signal to the process",
  },
  {
    names: "printk ftrace dump_stack",
    why: "strobe writes to no log of the kernel's",
    instead: "`log()` prints, `print_backtrace()` prints the stack",
  },
  {
    names: "cve_count_metric cve_record_metric cve_tmpdisable module_name module_size",
    why: "there is no kernel module here",
    instead: "strobe takes all it loaded away when it ends",
  },
  {
    names:
      "pid2task pid2execname proc_mem_data_pid proc_mem_rss_pid proc_mem_shr_pid proc_mem_size_pid proc_mem_string_pid " +
      "proc_mem_txt_pid task_stime_tid task_utime_tid task_time_string_tid",
    why: "a handler cannot look for a task by its id",
    instead:
      "keep what is wanted where that task runs, in an array with `pid()` as its key; `task_current()` is the current one",
  },
  {
    names:
      "json_add_array json_add_array_numeric_metric json_add_array_string_metric json_add_numeric_metric " +
      "json_add_string_metric json_set_prefix",
    why: "there is no file of metrics to read while a script runs",
    instead: "`strobe -f json` prints each line and value as JSON",
  },
  {
    names: "print_java_backtrace sprint_java_backtrace",
    why: "SystemTap's agent inside of Java is not there",
    instead: "`print_ubacktrace()` names what Java wrote to /tmp/perf-PID.map",
  },
  {
    names: "stack_used stack_unused",
    why: "how much of the kernel's stack is used is not read",
    instead:
      "`stack_size()` is how large it is, `register()` of the stack pointer in a probe of the kernel where it ends",
  },
  {
    names: "get_cycles",
    why: "a handler cannot read the processor's counter of cycles",
    instead: "`local_clock_ns()` counts nanoseconds, `perf.hw.cpu_cycles` probes count cycles",
  },
  {
    names: "stp_pid switch_file",
    why: "there is no process beside strobe that writes what is printed",
    instead: "`-o FILE` writes it to a file",
  },
  {
    names: "task_backtrace",
    why: "a handler sees the stack that it runs on",
    instead: "`backtrace()` in a probe where the task runs",
  },
  {
    names: "stack ustack",
    why: "a handler has a stack as a whole",
    instead:
      "`callers(N)` and `ucallers(N)` are its first frames, `addr()`, `uaddr()` and `caller_addr()` the first two addresses",
  },
  {
    names: "print_regs",
    why: "the kernel's dump of registers is not made",
    instead: "`register(NAME)` gives one",
  },
  {
    names: "target_set_report",
    why: "who began which process is not kept",
    instead: "`probe kprocess.create` prints it as it happens; `target_set_pid()` is there",
  },
  {
    names: "nfsderror nfs3_cmode nfs4_ctype NFS_I NFS_PROTO NFS_SERVER",
    why: "there are no aliases of nfs and nfsd",
    instead: '`module("nfs").function(…)` and `kernel.trace("nfs:*")` see what they do',
  },
  {
    names:
      "addr_from_rqst addr_from_rqst_str clones_from_clnt get_ip get_ip_from_client get_prot get_prot_from_client " +
      "port_from_clnt port_from_xprt proc_from_msg prog_from_clnt prot_from_clnt tasks_from_clnt vers_from_clnt " +
      "vers_from_prog xid_from_clnt",
    why: "there are no aliases of sunrpc",
    instead: '`kernel.trace("sunrpc:*")` has what its events tell',
  },
  {
    names: "disk_name get_devstate_from_req get_scsi_request scsi_timer_pending",
    why: "there are no aliases of scsi",
    instead: '`kernel.trace("scsi:*")` has what its events tell',
  },
  {
    names:
      "get_sigaction_mask get_sigset irqflags_str stp_print_binary syscall_num tcp_get_info_rto tcp_get_info_snd_cwnd " +
      "tcp_ipv6_sockopt_str tcp_ts_get_info_rcv_mss tcp_ts_get_info_snd_ssthresh tcp_ts_get_info_state",
    why: "SystemTap's library has it for itself, without a description",
    instead: "`@cast()` reads what such a function reads",
  },
  {
    names: "addr_to_node",
    why: "what memory a node has is not read",
    instead: '`kernel.trace("kmalloc")` has the node that memory is taken of',
  },
  {
    names: "umodaddr umodbuildid",
    why: "addresses and build ids of a process's files are not known where the handler runs",
    instead: "`umodname()` has the file's name",
  },
];

const refused = new Map(groups.flatMap((group) => group.names.split(" ").map((name) => [name, group] as const)));

/** Why a function of SystemTap's library is not there, and what to use instead. */
export function refusedFunction(name: string): Pick<Refused, "why" | "instead"> | undefined {
  return refused.get(name);
}

/** All of them, by name. */
export function refusedFunctions(): readonly (readonly [name: string, refused: Pick<Refused, "why" | "instead">])[] {
  return [...refused].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

// The kernel's BPF helpers that strobe uses: ids are the kernel's ABI (enum bpf_func_id), versions are when each came.

interface HelperFacts {
  readonly id: number;
  readonly since: readonly [number, number];
  /** Returns the same whenever a handler calls it without arguments. */
  readonly steady?: true;
}

/** By their kernel names, without `bpf_`. */
export const helpers = {
  map_lookup_elem: { id: 1, since: [3, 19] },
  map_update_elem: { id: 2, since: [3, 19] },
  map_delete_elem: { id: 3, since: [3, 19] },
  ktime_get_ns: { id: 5, since: [4, 1] },
  trace_printk: { id: 6, since: [4, 1] },
  get_prandom_u32: { id: 7, since: [4, 1] },
  get_smp_processor_id: { id: 8, since: [4, 1] },
  get_current_pid_tgid: { id: 14, since: [4, 2] },
  get_current_uid_gid: { id: 15, since: [4, 2] },
  get_current_comm: { id: 16, since: [4, 2] },
  perf_event_output: { id: 25, since: [4, 4] },
  get_stackid: { id: 27, since: [4, 6] },
  get_current_task: { id: 35, since: [4, 8] },
  probe_write_user: { id: 36, since: [4, 8] },
  get_numa_node_id: { id: 42, since: [4, 10], steady: true },
  get_socket_cookie: { id: 46, since: [4, 12] },
  override_return: { id: 58, since: [4, 16] },
  get_stack: { id: 67, since: [4, 18] },
  get_current_cgroup_id: { id: 80, since: [4, 18] },
  send_signal: { id: 109, since: [5, 3] },
  probe_read_user: { id: 112, since: [5, 5] },
  probe_read_kernel: { id: 113, since: [5, 5] },
  probe_read_user_str: { id: 114, since: [5, 5] },
  probe_read_kernel_str: { id: 115, since: [5, 5] },
  send_signal_thread: { id: 117, since: [5, 5] },
  jiffies64: { id: 118, since: [5, 5] },
  get_ns_current_pid_tgid: { id: 120, since: [5, 6] },
  get_current_ancestor_cgroup_id: { id: 123, since: [5, 7] },
  ktime_get_boot_ns: { id: 125, since: [5, 8] },
  seq_printf: { id: 126, since: [5, 9] },
  seq_write: { id: 127, since: [5, 9] },
  ringbuf_output: { id: 130, since: [5, 8] },
  ringbuf_reserve: { id: 131, since: [5, 8] },
  ringbuf_submit: { id: 132, since: [5, 8] },
  ringbuf_discard: { id: 133, since: [5, 8] },
  skb_output: { id: 111, since: [5, 5] },
  d_path: { id: 147, since: [5, 10] },
  copy_from_user: { id: 148, since: [5, 10] },
  trace_vprintk: { id: 177, since: [5, 16] },
  per_cpu_ptr: { id: 153, since: [5, 10] },
  this_cpu_ptr: { id: 154, since: [5, 10] },
  get_current_task_btf: { id: 158, since: [5, 11] },
  for_each_map_elem: { id: 164, since: [5, 13] },
  get_func_ip: { id: 173, since: [5, 15] },
  get_attach_cookie: { id: 174, since: [5, 15] },
  task_pt_regs: { id: 175, since: [5, 15] },
  find_vma: { id: 180, since: [5, 17] },
  loop: { id: 181, since: [5, 17] },
  strncmp: { id: 182, since: [5, 17] },
  get_func_arg: { id: 183, since: [5, 17] },
  get_func_ret: { id: 184, since: [5, 17] },
  copy_from_user_task: { id: 191, since: [5, 18] },
  map_lookup_percpu_elem: { id: 195, since: [5, 19] },
  ktime_get_tai_ns: { id: 208, since: [6, 1] },
} as const satisfies Record<string, HelperFacts>;

export type HelperName = keyof typeof helpers;

let names: ReadonlyMap<number, HelperName> | undefined;

/** `map_lookup_elem` for 1; undefined for helpers that strobe never calls. */
export function helperName(id: number): HelperName | undefined {
  names ??= new Map(Object.entries(helpers).map(([name, one]) => [one.id, name as HelperName]));
  return names.get(id);
}

export function isSteady(name: HelperName): boolean {
  const { steady }: HelperFacts = helpers[name];
  return steady === true;
}

/** Whether a kernel of this version has the helper (program types may still refuse it). */
export function helperExists(name: HelperName, kernel: readonly [number, number]): boolean {
  const [major, minor] = helpers[name].since;
  return kernel[0] > major || (kernel[0] === major && kernel[1] >= minor);
}

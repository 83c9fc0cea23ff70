// Providers whose probes and arguments are the same on every kernel: which probes of the tree their probes are, and their
// arguments as D text over the arguments of those.

import type { HelperName } from "./unit.ts";

export interface StableProbe {
  readonly probes: readonly {
    readonly kind: string;
    readonly parts: readonly string[];
    /** Of this one; it may give `this->` what the arguments are made of. */
    readonly when?: string;
  }[];
  readonly args?: readonly string[];
  /** Only then does it fire. */
  readonly when?: string;
  /** Clauses of D's own that its arguments are made of. */
  readonly needs?: HelperName;
}

const raw = (event: string): StableProbe["probes"] => [{ kind: "rawtracepoint", parts: [event] }];
const kernel = (name: string): StableProbe["probes"] => [{ kind: "kprobe", parts: [name] }];
const calls = (way: "enter" | "exit", ...names: readonly string[]): StableProbe["probes"] =>
  names.map((name) => ({ kind: "tracepoint", parts: ["syscalls", `sys_${way}_${name}`] }));

const thread = (of: string): readonly string[] => [`xlate <lwpsinfo_t> (${of})`, `xlate <psinfo_t> (${of})`];

/** The first thing that a task runs, of its own accord. */
const begins = kernel("schedule_tail");

const proc: Readonly<Record<string, StableProbe>> = {
  create: { probes: raw("sched_process_fork"), args: ["xlate <psinfo_t> (args.child)"] },
  start: { probes: begins, when: "pid == tid" },
  exec: { probes: calls("enter", "execve", "execveat"), args: ["copyinstr((uintptr_t)args.filename)"] },
  "exec-failure": { probes: calls("exit", "execve", "execveat"), args: ["(int)args.ret"], when: "args.ret < 0" },
  "exec-success": { probes: raw("sched_process_exec") },
  // CLD_EXITED, CLD_DUMPED, CLD_KILLED of a process whose last thread ends.
  exit: {
    probes: raw("sched_process_exit"),
    args: ["(curthread->exit_code & 0x7f) == 0 ? 1 : (curthread->exit_code & 0x80) != 0 ? 3 : 2"],
    when: "curthread->signal->live.counter == 0",
  },
  "lwp-create": { probes: raw("sched_process_fork"), args: thread("args.child") },
  "lwp-start": { probes: begins },
  "lwp-exit": { probes: raw("sched_process_exit") },
  "signal-send": { probes: raw("signal_generate"), args: [...thread("args.task"), "(int)args.sig"] },
  // TRACE_SIGNAL_IGNORED
  "signal-discard": {
    probes: raw("signal_generate"),
    args: [...thread("args.task"), "(int)args.sig"],
    when: "args.result == 1",
  },
  "signal-handle": {
    probes: raw("signal_deliver"),
    args: ["(int)args.sig", "args.info", "args.ka->sa.sa_handler"],
  },
  "signal-clear": { probes: calls("exit", "rt_sigtimedwait"), args: ["(int)args.ret"], when: "args.ret > 0" },
};

const queued = [
  ...thread("(struct task_struct *)__kernel(arg1)"),
  "xlate <cpuinfo_t> (((struct rq *)__kernel(arg0))->cpu)",
];
const current = thread("curthread");

const sched: Readonly<Record<string, StableProbe>> = {
  "on-cpu": { probes: kernel("finish_task_switch*") },
  "off-cpu": { probes: raw("sched_switch"), args: thread("args.next") },
  // What the classes of the scheduler do: (struct rq *, struct task_struct *, int flags).
  enqueue: { probes: kernel("enqueue_task_*"), args: queued },
  dequeue: { probes: kernel("dequeue_task_*"), args: queued },
  // Of a thread that could go on.
  preempt: { probes: raw("sched_switch"), when: "args.preempt != 0" },
  sleep: { probes: raw("sched_switch"), when: "args.preempt == 0 && args.prev->__state != 0" },
  surrender: { probes: calls("enter", "sched_yield"), args: current },
  tick: { probes: kernel("update_process_times"), args: current },
  wakeup: { probes: raw("sched_wakeup"), args: thread("args.p") },
};

/** Of all probes of requests the same, of no file: none is known there. */
const request = [
  "xlate <__request_t> (0)",
  "xlate <devinfo_t> ((struct bio *)__kernel(this->__bio))",
  "xlate <fileinfo_t> ((struct file *)0)",
];
/** What a request is before it has ended. */
const begun = (bio: string): string => `(this->__bio = (uint64_t)${bio},
  this->__bytes = (uint64_t)((struct bio *)__kernel(this->__bio))->bi_iter.bi_size,
  this->__sector = (uint64_t)((struct bio *)__kernel(this->__bio))->bi_iter.bi_sector, this->__status = (uint64_t)0, 1)`;

const io: Readonly<Record<string, StableProbe>> = {
  start: {
    probes: [{ kind: "rawtracepoint", parts: ["block_bio_queue"], when: begun("args.bio") }],
    args: request,
  },
  /**
   * The kernel traces the end of a request of several merged ones as one, and of what no request is made for (RAID, device
   * mapper) by itself. Requests from 34 (REQ_OP_DRV_IN) on are commands of drivers, which do not start here.
   */
  done: {
    probes: [
      {
        kind: "rawtracepoint",
        parts: ["block_rq_complete"],
        when: `args.rq->bio != 0 && (args.rq->cmd_flags & 0xff) < 34 && (this->__bio = (uint64_t)args.rq->bio,
          this->__bytes = (uint64_t)args.nr_bytes, this->__sector = (uint64_t)args.rq->__sector,
          this->__status = (uint64_t)args.error, 1)`,
      },
      {
        kind: "rawtracepoint",
        parts: ["block_bio_complete"],
        when: `(this->__bio = (uint64_t)args.bio, this->__bytes = (uint64_t)args.bio->bi_iter.bi_size,
          this->__sector = (uint64_t)args.bio->bi_iter.bi_sector, this->__status = (uint64_t)args.bio->bi_status, 1)`,
      },
    ],
    args: request,
  },
  "wait-start": { probes: [{ kind: "kprobe", parts: ["submit_bio_wait"], when: begun("arg0") }], args: request },
  "wait-done": {
    probes: [
      {
        kind: "kretprobe",
        parts: ["submit_bio_wait"],
        when: `(this->__bio = __waits[tid], this->__bytes = __wait_bytes[tid], this->__sector = __wait_sectors[tid],
          this->__status = this->__bio == 0 ? 0 : (uint64_t)((struct bio *)__kernel(this->__bio))->bi_status,
          this->__bio != 0)`,
      },
    ],
    args: request,
    needs: "waits",
  },
};

/** What a lock that was waited for is, by the flags of its contention (LCB_F_…, linux/lock.h). */
const contended = (flags: string, acquired: string): StableProbe["probes"] => [
  {
    kind: "rawtracepoint",
    parts: ["contention_end"],
    when: `(this->__who = tid == 0 ? -1 - (int64_t)cpu : (int64_t)tid, this->__flags = __lock_flags[(uint64_t)args.lock, this->__who],
      this->__waited = (uint64_t)(timestamp - __lock_since[(uint64_t)args.lock, this->__who]),
      (${flags}) && args.ret ${acquired})`,
  },
];
const lock = (type: string, flags: string, ...more: readonly string[]): StableProbe => ({
  probes: contended(flags, "== 0"),
  args: [`(struct ${type} *)args.lock`, "this->__waited", ...more],
  needs: "contention",
});
/** RW_READER and RW_WRITER. */
const way = "(int)((this->__flags & 2) != 0)";
const lockstat: Readonly<Record<string, StableProbe>> = {
  "adaptive-block": lock("mutex", "this->__flags == 32"),
  "adaptive-spin": lock("mutex", "this->__flags == 33"),
  "adaptive-acquire-error": {
    probes: contended("(this->__flags & 32) != 0", "!= 0"),
    args: ["(struct mutex *)args.lock", "(int)args.ret"],
    needs: "contention",
  },
  "spin-spin": lock("qspinlock", "this->__flags == 1"),
  "rw-spin": lock("qrwlock", "this->__flags == 3 || this->__flags == 5", way),
  "rw-block": lock("rw_semaphore", "this->__flags == 2 || this->__flags == 4", way),
};

/** A socket of TCP (IPPROTO_TCP) goes from one state to another, by the kernel's numbers, which are D's. */
const changes = (when: string, comes: 0 | 1, ip: string, last: string): StableProbe => ({
  probes: [
    {
      kind: "rawtracepoint",
      parts: ["inet_sock_set_state"],
      when: `(this->__comes = (uint64_t)${comes}, args.sk->sk_protocol == 6 && ${when})`,
    },
  ],
  // No packet is known.
  args: ["", "xlate <csinfo_t> (args.sk)", ip, "xlate <__next_tcpsinfo_t> (args.sk)", "", last],
});
const connection = (comes: 0 | 1, when: string): StableProbe =>
  changes(when, comes, "xlate <__connection_t> (args.sk)", "");

/** Of the packet's header at `this->__ip`, in the kernel. */
const byteOfPacket = (offset: string): string => `*((uint8_t *)__kernel(this->__ip + ${offset}))`;

/**
 * Packets of IP that are handed to a device, or come from one. On the way in the packet begins with its header; on the way
 * out the kernel keeps where that is. A later fragment has none of the next protocol's.
 */
const packets = (way: "send" | "receive", when = "1"): StableProbe["probes"] => [
  {
    kind: "rawtracepoint",
    parts: [way === "send" ? "net_dev_queue" : "netif_receive_skb"],
    when: `(args.skb->protocol == 0x0008 || args.skb->protocol == 0xdd86) && (
      this->__ip = (uint64_t)${way === "send" ? "args.skb->head + args.skb->network_header" : "args.skb->data"},
      this->__version = (uint64_t)(${byteOfPacket("0")} >> 4),
      this->__protocol = (uint64_t)(this->__version == 4 ? ${byteOfPacket("9")} : ${byteOfPacket("6")}),
      this->__next = this->__ip + (this->__version == 4 ? (uint64_t)(${byteOfPacket("0")} & 0xf) * 4 : 40),
      this->__whole = (uint64_t)(this->__version == 4 ? (${byteOfPacket("6")} & 0x1f) == 0 && ${byteOfPacket("7")} == 0 : 1),
      ${when})`,
  },
];
const packetArgs = [
  "xlate <pktinfo_t> (args.skb)",
  "xlate <csinfo_t> (args.skb->sk)",
  "xlate <ipinfo_t> ((struct iphdr *)__kernel(this->__ip))",
];
const ipArgs = [
  ...packetArgs,
  "xlate <ifinfo_t> (args.skb->dev)",
  "xlate <ipv4info_t> ((struct iphdr *)__kernel(this->__version == 4 ? this->__ip : 0))",
  "xlate <ipv6info_t> ((struct ipv6hdr *)__kernel(this->__version == 6 ? this->__ip : 0))",
];
const ip: Readonly<Record<string, StableProbe>> = {
  send: { probes: packets("send"), args: ipArgs },
  receive: { probes: packets("receive"), args: ipArgs },
};

const datagrams = "this->__protocol == 17 && this->__whole != 0";
const udpHeader = "xlate <udpinfo_t> ((struct udphdr *)__kernel(this->__next))";
const udp: Readonly<Record<string, StableProbe>> = {
  send: { probes: packets("send", datagrams), args: [...packetArgs, "xlate <udpsinfo_t> (args.skb->sk)", udpHeader] },
  // No socket is known yet.
  receive: { probes: packets("receive", datagrams), args: [...packetArgs, "", udpHeader] },
};

const segments = "this->__protocol == 6 && this->__whole != 0";
const tcpHeader = "xlate <tcpinfo_t> ((struct tcphdr *)__kernel(this->__next))";
const ofSegment = (offset: number): string => `*((uint32_t *)__kernel(this->__next + ${offset}))`;

const tcp: Readonly<Record<string, StableProbe>> = {
  send: { probes: packets("send", segments), args: [...packetArgs, "xlate <tcpsinfo_t> (args.skb->sk)", tcpHeader] },
  receive: { probes: packets("receive", segments), args: [...packetArgs, "", tcpHeader] },
  // What answers a SYN to where nobody listens: RST and ACK, with the sequence number 0 (RFC 9293, 3.10.7.1).
  "accept-refused": {
    probes: packets(
      "send",
      `${segments} && (*((uint8_t *)__kernel(this->__next + 13)) & 0x14) == 0x14 && ${ofSegment(4)} == 0`,
    ),
    args: [...packetArgs, "", tcpHeader],
  },
  "state-change": changes("1", 0, "", "xlate <tcplsinfo_t> (args.oldstate)"),
  "connect-request": connection(0, "args.newstate == 2"),
  "connect-established": connection(1, "args.oldstate == 2 && args.newstate == 1"),
  // ECONNREFUSED
  "connect-refused": connection(1, "args.oldstate == 2 && args.newstate == 7 && args.sk->sk_err == 111"),
  "accept-established": connection(1, "args.oldstate == 3 && args.newstate == 1"),
};

/** Probes that DTrace has elsewhere, and the kernel has nothing for. */
const missing: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sched: {
    "remain-cpu": "the kernel has no event for a thread that stays on its processor",
    "change-pri": "the kernel has no event for all changes of priorities",
  },
  lockstat: Object.fromEntries(
    ["adaptive", "spin", "rw"].flatMap((kind) =>
      ["acquire", "release"].map((end) => [
        `${kind}-${end}`,
        "the kernel has events for locks that are waited for only: `-block` and `-spin` probes",
      ]),
    ),
  ),
};

const providers: Readonly<Record<string, Readonly<Record<string, StableProbe>>>> = {
  proc,
  sched,
  io,
  lockstat,
  ip,
  tcp,
  udp,
};

/** `proc:::exec`, all of them. */
export const stableProbes = (): readonly string[] =>
  Object.entries(providers).flatMap(([provider, all]) => Object.keys(all).map((name) => `${provider}:::${name}`));

export const isStableProvider = (name: string): boolean => Object.hasOwn(providers, name);

export function stableProbe(provider: string, name: string): StableProbe | undefined {
  const of = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;
}

/** Why there is no such probe, where that is known. */
export function missingProbe(provider: string, name: string): string | undefined {
  const of = Object.hasOwn(missing, provider) ? missing[provider] : undefined;
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;
}

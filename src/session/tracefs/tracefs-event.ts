// The event that handlers look at: a record of tracefs, and what is known of the moment.
import type { EventKind } from "../../compiler/tracefs/tracefs-plan.ts";
import type { HandledEvent } from "../host-runtime.ts";
import { stackValue, type TakenStacks } from "../taken-stacks.ts";
import type { Life } from "./lives.ts";
import type { Head } from "./event-streams.ts";

export interface Moment {
  readonly childPid: bigint;
  /** The boot clock when the session began, and what is to be added to it for other clocks. Nanoseconds. */
  readonly start: bigint;
  readonly bootToMonotonic: bigint;
  readonly bootToWall: bigint;
  readonly bootToTai: bigint;
  readonly stacks: TakenStacks;
  /** Name of the kernel's function at an address. */
  readonly functionAt: (address: bigint) => string | undefined;
}

/** Where handlers find the record: an address at which no kernel has memory. */
const recordAddress = 0xffff_0057_524f_5700n;

/** What the kernel writes where it could not read a text (FAULT_STRING of kernel/trace/trace_probe.h). */
const fault = Buffer.from("(fault)\0");

const nothing: Head = {
  of: 0,
  cpu: 0,
  time: 0,
  page: new Uint8Array(0),
  view: new DataView(new ArrayBuffer(0)),
  offset: 0,
  length: 0,
};
const nobody: Life = { pid: 0, comm: new Uint8Array(16) };

export class TracefsEvent implements HandledEvent {
  /** Of the probe among the plan's names. */
  cookie = 0n;
  bytes: Uint8Array = new Uint8Array(0);
  readonly start = 0;
  readonly #moment: Moment;
  #head: Head = nothing;
  #thread = 0;
  #life = nobody;
  #kind: EventKind = "tracepoint";
  /** Addresses where stacks of tracepoints begin: whether the kernel calls several probes there. */
  readonly #callsProbes = new Map<bigint, boolean>();

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  /** The event is this one from now on. */
  at(head: Head, kind: EventKind, thread: number, life: Life): void {
    const { page, offset, length } = head;
    this.bytes = page.subarray(offset, offset + length);
    this.#head = head;
    this.#thread = thread;
    this.#life = life;
    this.#kind = kind;
  }

  builtin(name: string): bigint {
    const { start, bootToMonotonic, bootToWall, bootToTai, childPid } = this.#moment;
    switch (name) {
      case "pid-and-tid":
      case "initial-pid-and-tid":
        return (BigInt(this.#life.pid) << 32n) | BigInt(this.#thread);
      case "cpu":
        return BigInt(this.#head.cpu);
      case "context":
        return BigInt.asIntN(64, recordAddress);
      case "attach-cookie":
        return this.cookie;
      case "nsecs-boot":
        return start + BigInt(this.#head.time);
      case "nsecs-monotonic":
        return start + BigInt(this.#head.time) + bootToMonotonic;
      case "nsecs-wall":
        return start + BigInt(this.#head.time) + bootToWall;
      case "nsecs-tai":
      case "nsecs-sw-tai":
        return start + BigInt(this.#head.time) + bootToTai;
      case "elapsed":
        return BigInt(this.#head.time);
      case "child-pid":
        return childPid;
      case "random":
        return BigInt(Math.floor(Math.random() * 2 ** 32));
      default:
        // The compiler has refused what no event tells.
        return 0n;
    }
  }

  comm(): Uint8Array {
    return this.#life.comm;
  }

  /** Bytes of the record; as many as there are. */
  read(space: "kernel" | "user", address: bigint, size: number): Uint8Array | undefined {
    if (space !== "kernel") return undefined;
    const offset = Number(BigInt.asUintN(64, address) - recordAddress);
    if (!(offset >= 0 && offset < this.bytes.length)) return undefined;
    const bytes = this.bytes.subarray(offset, offset + size);
    return this.#kind !== "tracepoint" && bytes.length >= fault.length && fault.equals(bytes.subarray(0, fault.length))
      ? undefined
      : bytes;
  }

  stack(space: "kernel" | "user", limit: number): Uint8Array {
    const taken = space === "user" ? this.#head.userStack : this.#kernelStack();
    const number = taken === undefined || taken.length === 0 ? -1 : this.#moment.stacks.take(taken, limit);
    return space === "user" ? stackValue(number, this.#life.pid, this.#thread) : stackValue(number, 0, 0);
  }

  /** Without what the kernel runs to write the event. */
  #kernelStack(): BigUint64Array | undefined {
    switch (this.#kind) {
      case "tracepoint": {
        const stack = this.#head.kernelStack?.subarray(1);
        return stack !== undefined && stack.length > 0 && this.#areProbesCalled(stack[0]) ? stack.subarray(1) : stack;
      }
      case "kprobe":
      case "kretprobe":
      case "fprobe":
      case "fretprobe":
        return this.#head.kernelStack;
      case "uprobe":
      case "uretprobe":
        // The program was not in the kernel.
        return undefined;
      case "eprobe":
      case "pair":
        // The compiler has refused it.
        return undefined;
    }
  }

  /** Where a tracepoint has several probes, of other tracers as well, its `__traceiter_NAME` calls them. */
  #areProbesCalled(address: bigint): boolean {
    let known = this.#callsProbes.get(address);
    if (known === undefined) {
      known = this.#moment.functionAt(address)?.startsWith("__traceiter_") ?? false;
      this.#callsProbes.set(address, known);
    }
    return known;
  }
}

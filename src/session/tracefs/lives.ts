// Which process each thread belongs to and what it is called, as of each moment: events carry the thread's number alone.
// The kernel tells of every thread that begins and of every new name, in an instance of its own whose buffer the
// script's events cannot fill; before that, /proc tells.
import { readdirSync, readFileSync } from "node:fs";
import type { LifeEvent } from "../../compiler/tracefs/tracefs-plan.ts";

/** A thread. */
export interface Life {
  readonly pid: number;
  /** 16 bytes, padded with zeroes. */
  readonly comm: Uint8Array;
  /** It has ended; its number may be given away again. */
  ended?: true;
}

/** include/uapi/linux/sched.h */
const CLONE_THREAD = 0x1_0000n;
const commBytes = 16;

/** Where an event's record has a field, by its name. */
export type FieldOffsets = (field: string) => number;

export class Lives {
  readonly #lives = new Map<number, Life>();
  readonly #idle = new Map<number, Life>();
  /** Threads that nobody told of. */
  unknown = 0;
  /** Threads that have gone are asked for, too. */
  remember = false;
  /** Numbers of threads that went to others meanwhile, where those of threads that have gone are asked for. */
  readonly reused = new Set<number>();

  /** All that run now; what begins from here on is told by events. */
  readAll(): void {
    for (const process of numbersIn("/proc"))
      for (const thread of threadsOf(process)) {
        const life = lifeIn(`/proc/${process}/task/${thread}/comm`, process);
        if (life !== undefined) this.#lives.set(thread, life);
      }
  }

  /** As the kernel starts: what becomes init is called as the CPU's idle thread that it comes from. */
  atBoot(): void {
    this.#lives.set(1, { pid: 1, comm: padded(Buffer.from("swapper/0")) });
  }

  /** The thread of an event on a CPU. */
  of(thread: number, cpu: number): Life {
    if (thread === 0) return this.#idleOf(cpu);
    let life = this.#lives.get(thread);
    if (life === undefined) {
      const pid = processOf(thread);
      life = (pid === undefined ? undefined : lifeIn(`/proc/${thread}/comm`, pid)) ?? this.#nobody(thread);
      this.#lives.set(thread, life);
    }
    return life;
  }

  /** Of any time; undefined where nobody told of it so far. */
  past(thread: number, cpu: number): Life | undefined {
    return thread === 0 ? this.#idleOf(cpu) : this.#lives.get(thread);
  }

  #nobody(thread: number): Life {
    this.unknown++;
    return { pid: thread, comm: new Uint8Array(commBytes) };
  }

  #idleOf(cpu: number): Life {
    let life = this.#idle.get(cpu);
    if (life === undefined) this.#idle.set(cpu, (life = { pid: 0, comm: padded(Buffer.from(`swapper/${cpu}`)) }));
    return life;
  }

  /** What the kernel told, in order; `by`: the thread that did it. */
  take(event: LifeEvent, record: Uint8Array, view: DataView, at: FieldOffsets, by: number, cpu: number): void {
    const thread = view.getInt32(at("pid"), true);
    switch (event) {
      case "task_newtask": {
        if (this.remember && this.#lives.get(thread)?.ended === true) this.reused.add(thread);
        const within = (view.getBigUint64(at("clone_flags"), true) & CLONE_THREAD) !== 0n;
        this.#lives.set(thread, {
          pid: within ? this.of(by, cpu).pid : thread,
          comm: padded(record.subarray(at("comm"), at("comm") + commBytes)),
        });
        return;
      }
      case "task_rename":
        this.#lives.set(thread, {
          pid: this.#lives.get(thread)?.pid ?? processOf(thread) ?? thread,
          comm: padded(record.subarray(at("newcomm"), at("newcomm") + commBytes)),
        });
        return;
      case "sched_process_exit": {
        const life = this.#lives.get(thread);
        if (life !== undefined) life.ended = true;
        return;
      }
      case "sched_process_free":
        if (!this.remember && this.#lives.get(thread)?.ended === true) this.#lives.delete(thread);
    }
  }
}

/** Up to the terminator. */
function padded(name: Uint8Array): Uint8Array {
  const comm = new Uint8Array(commBytes);
  const end = name.indexOf(0);
  comm.set(name.subarray(0, Math.min(end < 0 ? name.length : end, commBytes - 1)));
  return comm;
}

/** None where there is no such process. */
export function threadsOf(process: number): readonly number[] {
  return numbersIn(`/proc/${process}/task`);
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((number) => number > 0);
  } catch {
    return [];
  }
}

/** A name may have any bytes in it but a zero. */
function lifeIn(file: string, pid: number): Life | undefined {
  try {
    return { pid, comm: padded(readFileSync(file).subarray(0, -1)) };
  } catch {
    return undefined;
  }
}

function processOf(thread: number): number | undefined {
  try {
    return Number(/^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${thread}/status`, "latin1"))?.[1]);
  } catch {
    return undefined;
  }
}

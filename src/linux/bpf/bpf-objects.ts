// Asking about BPF objects: a program's figures, and what the system has (leak checks, `--info`).
import {
  attr,
  bpf,
  BTF_GET_FD_BY_ID,
  BTF_GET_NEXT_ID,
  ENABLE_STATS,
  LINK_GET_FD_BY_ID,
  LINK_GET_NEXT_ID,
  MAP_GET_FD_BY_ID,
  MAP_GET_NEXT_ID,
  mustBpf,
  OBJ_GET_INFO_BY_FD,
  PROG_GET_FD_BY_ID,
  PROG_GET_NEXT_ID,
} from "./bpf-call.ts";
import { closeFd } from "../ffi.ts";
import { attempts } from "../../messages/on-demand.ts";

export interface ProgramInfo {
  readonly id: number;
  /** bpf_prog_type number. */
  readonly type: number;
  readonly name: string;
  /** Only counted while enableStats() is open, as are runs. */
  readonly runTimeNs: number;
  readonly runCount: number;
  readonly recursionMisses: number;
  /** Instructions that the verifier visited. */
  readonly verifiedInstructions: number;
  /** Bytes. */
  readonly jitedLength: number;
  readonly translatedLength: number;
}
export interface MapInfo {
  readonly id: number;
  readonly name: string;
  readonly type: number;
  readonly keySize: number;
  readonly valueSize: number;
  readonly entries: number;
}
/** Links have no name of their own: theirs is the program's. */
export interface LinkInfo {
  readonly id: number;
  readonly name: string;
  readonly type: number;
  readonly program: number;
}

function info(fd: number, size: number): DataView {
  const memory = new Uint8Array(size);
  attr.clear();
  attr.u32(0, fd);
  attr.u32(4, size);
  attr.pointer(8, memory);
  mustBpf(OBJ_GET_INFO_BY_FD, () => attempts().askAboutObject());
  return new DataView(memory.buffer);
}

function nameAt(view: DataView, offset: number, limit = 16): string {
  const text = Buffer.from(view.buffer, offset, limit).toString("latin1");
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

/** Counters fit 53 bits for the next century. */
function count(view: DataView, offset: number): number {
  return Number(view.getBigUint64(offset, true));
}

/** A program's figures (struct bpf_prog_info). */
export function progInfo(fd: number): ProgramInfo {
  const view = info(fd, 232);
  return {
    type: view.getUint32(0, true),
    id: view.getUint32(4, true),
    name: nameAt(view, 64),
    jitedLength: view.getUint32(16, true),
    translatedLength: view.getUint32(20, true),
    runTimeNs: count(view, 192),
    runCount: count(view, 200),
    recursionMisses: count(view, 208),
    verifiedInstructions: view.getUint32(216, true),
  };
}

export function mapInfo(fd: number): MapInfo {
  const view = info(fd, 80);
  return {
    type: view.getUint32(0, true),
    id: view.getUint32(4, true),
    keySize: view.getUint32(8, true),
    valueSize: view.getUint32(12, true),
    entries: view.getUint32(16, true),
    name: nameAt(view, 24),
  };
}

const LINK_PERF_EVENT = 7;
const LINK_KPROBE_MULTI = 8;
/** bpf_perf_event_type */
const PERF_EVENT_KPROBE = 3;
const PERF_EVENT_KRETPROBE = 4;

/**
 * Calls that a link's kernel probes did not see: nested ones, and those for which a kretprobe had no room. Known since
 * Linux 6.7; before, and of other links, 0. (struct bpf_link_info)
 */
export function linkMisses(fd: number): number {
  const view = info(fd, 64);
  switch (view.getUint32(0, true)) {
    case LINK_KPROBE_MULTI:
      return count(view, 32);
    case LINK_PERF_EVENT: {
      const type = view.getUint32(16, true);
      return type === PERF_EVENT_KPROBE || type === PERF_EVENT_KRETPROBE ? count(view, 48) : 0;
    }
    default:
      return 0;
  }
}

/** The kernel counts runs and their time of every program while this descriptor is open. */
export function enableStats(): number {
  attr.clear();
  return mustBpf(ENABLE_STATS, () => attempts().countRuns());
}

/** Every program on the system (needs CAP_SYS_ADMIN). */
export function listPrograms(): ProgramInfo[] {
  return [...objects(PROG_GET_NEXT_ID, PROG_GET_FD_BY_ID, progInfo)];
}
export function listMaps(): MapInfo[] {
  return [...objects(MAP_GET_NEXT_ID, MAP_GET_FD_BY_ID, mapInfo)];
}
export function listLinks(): LinkInfo[] {
  const names = new Map(listPrograms().map((program) => [program.id, program.name]));
  return [
    ...objects(LINK_GET_NEXT_ID, LINK_GET_FD_BY_ID, (fd) => {
      const view = info(fd, 64);
      const program = view.getUint32(8, true);
      return { type: view.getUint32(0, true), id: view.getUint32(4, true), program, name: names.get(program) ?? "" };
    }),
  ];
}

/** The type information of a module (for attachBtfObjectFd), or undefined. The caller owns the descriptor. */
export function openModuleBtf(module: string): number | undefined {
  for (const id of ids(BTF_GET_NEXT_ID)) {
    const fd = open(BTF_GET_FD_BY_ID, id);
    if (fd < 0) continue;
    const name = new Uint8Array(64);
    const memory = new Uint8Array(32);
    const view = new DataView(memory.buffer);
    // struct bpf_btf_info: btf, btf_size, id, name, name_len, kernel_btf
    attr.clear();
    attr.pointer(16, name);
    view.setUint32(16, attr.read32(16), true);
    view.setUint32(20, attr.read32(20), true);
    view.setUint32(24, name.length, true);
    attr.clear();
    attr.u32(0, fd);
    attr.u32(4, memory.length);
    attr.pointer(8, memory);
    const result = bpf(OBJ_GET_INFO_BY_FD);
    if (result >= 0 && view.getUint32(28, true) !== 0 && nameAt(new DataView(name.buffer), 0, name.length) === module)
      return fd;
    closeFd(fd);
  }
  return undefined;
}

function open(command: number, id: number): number {
  attr.clear();
  attr.u32(0, id);
  return bpf(command);
}

function* ids(command: number): Generator<number> {
  for (let id = 0; ;) {
    attr.clear();
    attr.u32(0, id);
    if (bpf(command) < 0) return;
    id = attr.read32(4);
    yield id;
  }
}

function* objects<T>(next: number, byId: number, describe: (fd: number) => T): Generator<T> {
  for (const id of ids(next)) {
    const fd = open(byId, id);
    if (fd < 0) continue; // gone meanwhile
    try {
      yield describe(fd);
    } finally {
      closeFd(fd);
    }
  }
}

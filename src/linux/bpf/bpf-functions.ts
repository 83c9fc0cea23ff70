// Functions of the BPF programs that are loaded: what fentry and fexit can be bound to besides the kernel's own.
import { attr, bpf, BTF_GET_FD_BY_ID, mustBpf, OBJ_GET_INFO_BY_FD, PROG_GET_FD_BY_ID } from "./bpf-call.ts";
import { closeFd } from "../ffi.ts";
import { listPrograms } from "./bpf-objects.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

/** A program with type information; `functions`: the BTF ids of its functions, the main one first. */
export interface TypedProgram {
  readonly id: number;
  /** bpf_prog_type number. */
  readonly type: number;
  readonly btf: Uint8Array;
  readonly functions: readonly number[];
}

/**
 * All of them but those without type information, which the kernel attaches nothing to. @throws LinuxError: needs
 * CAP_SYS_ADMIN
 */
export function typedPrograms(): TypedProgram[] {
  return listPrograms().flatMap(({ id, type }) => {
    const fd = byId(PROG_GET_FD_BY_ID, id);
    if (fd < 0) return []; // gone meanwhile
    try {
      const found = functionsOf(fd);
      return found === undefined ? [] : [{ id, type, ...found }];
    } finally {
      closeFd(fd);
    }
  });
}

/** A program's descriptor, which the caller owns. @throws LinuxError when it is gone */
export function openProgram(id: number): number {
  attr.clear();
  attr.u32(0, id);
  return mustBpf(PROG_GET_FD_BY_ID, () => attempts().openProgram(id), refusalHints().programEnded());
}

function byId(command: number, id: number): number {
  attr.clear();
  attr.u32(0, id);
  return bpf(command);
}

/**
 * struct bpf_prog_info: btf_id at 128, then func_info_rec_size, func_info, nr_func_info. A record is an instruction's
 * index and a type id.
 */
function functionsOf(fd: number): Pick<TypedProgram, "btf" | "functions"> | undefined {
  const memory = new Uint8Array(232);
  const view = new DataView(memory.buffer);
  if (!ask(fd, memory)) return undefined;
  const [btfId, count] = [view.getUint32(128, true), view.getUint32(144, true)];
  if (btfId === 0 || count === 0) return undefined;
  const records = new Uint8Array(count * 8);
  memory.fill(0);
  view.setUint32(132, 8, true);
  view.setUint32(144, count, true);
  if (!ask(fd, memory, { offset: 136, memory: records })) return undefined;
  const btf = btfBytes(btfId);
  if (btf === undefined) return undefined;
  const list = new DataView(records.buffer);
  return { btf, functions: Array.from({ length: count }, (_, i) => list.getUint32(i * 8 + 4, true)) };
}

/** Fills an info block; `behind` is what it points to. */
function ask(
  fd: number,
  memory: Uint8Array,
  behind?: { readonly offset: number; readonly memory: Uint8Array },
): boolean {
  if (behind !== undefined) {
    attr.clear();
    attr.pointer(0, behind.memory);
    const block = new DataView(memory.buffer);
    block.setUint32(behind.offset, attr.read32(0), true);
    block.setUint32(behind.offset + 4, attr.read32(4), true);
  }
  attr.clear();
  if (behind !== undefined) attr.pin(behind.memory);
  attr.u32(0, fd);
  attr.u32(4, memory.length);
  attr.pointer(8, memory);
  return bpf(OBJ_GET_INFO_BY_FD) >= 0;
}

/** struct bpf_btf_info: btf, btf_size, id. */
function btfBytes(id: number): Uint8Array | undefined {
  const fd = byId(BTF_GET_FD_BY_ID, id);
  if (fd < 0) return undefined;
  try {
    const memory = new Uint8Array(32);
    if (!ask(fd, memory)) return undefined;
    const bytes = new Uint8Array(new DataView(memory.buffer).getUint32(8, true));
    memory.fill(0);
    new DataView(memory.buffer).setUint32(8, bytes.length, true);
    return ask(fd, memory, { offset: 0, memory: bytes }) ? bytes : undefined;
  } finally {
    closeFd(fd);
  }
}

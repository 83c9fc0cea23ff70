// The least type information that the verifier wants before it lets a program pass a function as a map callback:
// every function of the program, `u64 name(u64, u64, u64, u64)`, static. Format: Documentation/bpf/btf.rst.

export interface SubprogramEntry {
  readonly name: string;
  /** Index of the function's first instruction. */
  readonly start: number;
}

const KIND_INT = 1;
const KIND_FUNC = 12;
const KIND_FUNC_PROTO = 13;
const LINKAGE_STATIC = 0;
const LINKAGE_GLOBAL = 1;

/**
 * The BTF blob and the func_info pairs (instruction, type id) of a program's functions; the main one is added if
 * missing.
 */
export function subprogramBtf(entries: readonly SubprogramEntry[]): { btf: Uint8Array; functions: Uint32Array } {
  const sorted = [...entries].sort((a, b) => a.start - b.start);
  if (sorted[0]?.start !== 0) sorted.unshift({ name: "main", start: 0 });
  let strings = "\0u64\0x\0";
  const names = sorted.map(({ name }) => {
    const offset = strings.length;
    strings += `${name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d|$)/, "_")}\0`;
    return offset;
  });
  const types: number[] = [
    // 1: u64
    1,
    KIND_INT << 24,
    8,
    64,
    // 2: u64 (*)(u64 x, u64 x, u64 x, u64 x): the kernel wants names, not different ones
    0,
    (KIND_FUNC_PROTO << 24) | 4,
    1,
    5,
    1,
    5,
    1,
    5,
    1,
    5,
    1,
  ];
  const functions = new Uint32Array(sorted.length * 2);
  sorted.forEach(({ start }, i) => {
    types.push(names[i] ?? 0, (KIND_FUNC << 24) | (start === 0 ? LINKAGE_GLOBAL : LINKAGE_STATIC), 2);
    functions[i * 2] = start;
    functions[i * 2 + 1] = 3 + i;
  });
  const headerBytes = 24;
  const typeBytes = types.length * 4;
  const btf = Buffer.alloc(headerBytes + typeBytes + strings.length);
  btf.writeUInt16LE(0xeb9f, 0);
  btf.writeUInt8(1, 2);
  btf.writeUInt32LE(headerBytes, 4);
  btf.writeUInt32LE(0, 8);
  btf.writeUInt32LE(typeBytes, 12);
  btf.writeUInt32LE(typeBytes, 16);
  btf.writeUInt32LE(strings.length, 20);
  types.forEach((word, i) => btf.writeUInt32LE(word >>> 0, headerBytes + i * 4));
  btf.write(strings, headerBytes + typeBytes, "latin1");
  return { btf, functions };
}

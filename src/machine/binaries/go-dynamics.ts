// What may be in the interfaces of a Go program: the types that its compiler made tables of methods for, and those of the
// language itself. The tables go by `go.itab.TYPE,INTERFACE` (`go:itab.` since Go 1.20); in one, the type's description is
// the second word (runtime/runtime2.go, internal/abi/iface.go).
import type { DebugInfo } from "../../debuginfo/dwarf/facts.ts";
import type { Binary } from "../system.ts";
import type { GoDynamic } from "../values/go-interfaces.ts";

/** Types that a value of one interface may have: code that tells them apart is made for each. */
const most = 40;

const ownTypes = [
  ..."bool int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32 float64 string".split(" "),
  ..."[]uint8 []int []string".split(" "),
];

export interface GoDynamics {
  /** By the name of an interface, the program's own types first. */
  of(name: string): readonly GoDynamic[];
}

export function goDynamics(binary: Binary, info: Pick<DebugInfo, "typeNamed">): GoDynamics {
  const tables = new Map<string, GoDynamic[]>();
  const types = new Map<string, bigint>();
  const base = binary.symbol("runtime.types")?.address;
  for (const name of base === undefined ? [] : ownTypes) {
    const type = info.typeNamed(name);
    const at = type !== undefined && "goType" in type ? type.goType : undefined;
    if (at !== undefined) types.set(name, base! + BigInt(at));
  }
  for (const { name, address, fileOffset } of binary.symbols((one) => /^go[.:]itab\./.test(one))) {
    const comma = name.lastIndexOf(",");
    const type = name.slice("go.itab.".length, comma);
    const of = name.slice(comma + 1);
    const known = tables.get(of);
    if (known === undefined) tables.set(of, [{ word: address, name: type }]);
    else known.push({ word: address, name: type });
    const bytes = Buffer.from(binary.read(fileOffset, 16));
    if (bytes.length === 16) types.set(type, bytes.readBigUInt64LE(8));
  }
  const all = [...types].map(([name, word]) => ({ word, name }));
  return {
    of: (name) => (name === "interface {}" ? all : (tables.get(name) ?? [])).toSorted(ownFirst).slice(0, most),
  };
}

/** Those of the language, of the program, of modules that have a server's name before them, of Go's library. */
function ownFirst(one: GoDynamic, other: GoDynamic): number {
  const rank = ({ name }: GoDynamic): number =>
    ownTypes.includes(name) ? 0 : /^\*?main\./.test(name) ? 1 : /^\*?[^/]*\.[^/]*\//.test(name) ? 2 : 3;
  return rank(one) - rank(other);
}

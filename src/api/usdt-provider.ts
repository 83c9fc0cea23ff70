// Static probes of a Node program, defined while it runs: any tracer can find them and listen, and while none does a
// probe costs a look at a counter. A small shared object has the probes; a definition is a file, shared by the
// processes that make it, as a library is: who probes the file probes all of them.
import { library } from "../messages/on-demand.ts";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { semaphoresSymbol, stubSymbol, usdtObject, type UsdtParameter } from "../debuginfo/usdt-object.ts";
import { loadSharedObject } from "../linux/ffi.ts";
import { textOf, real, whole } from "./passed-values.ts";
import { hostMachine } from "../machine/contexts/registers.ts";

/** What an argument is to the tracer: integers by width and sign, floating-point numbers, zero-terminated UTF-8. */
export type UsdtType = "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64" | "string";
/** What a program passes for it. */
export type UsdtValue<T extends UsdtType> = T extends "string"
  ? string | null
  : T extends "i64" | "u64"
    ? number | bigint
    : number;

export interface UsdtProbe<Types extends readonly UsdtType[]> {
  /** Fires. Does nothing while no tracer listens. */
  (...values: { readonly [I in keyof Types]: UsdtValue<Types[I]> }): void;
  /** Whether a tracer listens: for arguments that cost something to make. */
  readonly enabled: boolean;
}

export type UsdtDefinitions = Readonly<Record<string, readonly UsdtType[]>>;

export interface UsdtProvider<D extends UsdtDefinitions> extends Disposable {
  readonly probes: { readonly [Name in keyof D]: UsdtProbe<D[Name]> };
  /** The file that has them: `usdt:PATH:PROVIDER:PROBE` is the probe in every process that defined it. */
  readonly path: string;
}

/** As many as <sys/sdt.h> has. */
const mostArguments = 12;
/** What scripts can name without quotes. */
const nameShape = /^[A-Za-z_][\w-]*$/;

/**
 * Defines static probes of this process: `usdtProvider("shop", { order: ["u64", "string"] })`. Disposing takes them away; they do
 * nothing from then on.
 * @throws TypeError for names and types that cannot be; Error when the object cannot be written or loaded
 */
export function usdtProvider<const D extends UsdtDefinitions>(name: string, definitions: D): UsdtProvider<D> {
  const entries = Object.entries(definitions);
  checkNames([name, ...entries.map(([probe]) => probe)]);
  if (entries.length === 0) throw new TypeError(library().providerWithoutProbes(name).message);
  const object = usdtObject(
    hostMachine,
    name,
    entries.map(([probe, types]) => ({ name: probe, parameters: parametersOf(probe, types) })),
  );
  const path = fileOf(name, object);
  const loaded = loadSharedObject(path);
  // Other arrays when the object is gone: its memory is then somebody else's.
  let semaphores = new Uint16Array(loaded.memory(semaphoresSymbol, entries.length * 2));
  const probes = Object.fromEntries(
    entries.map(([probe, types], i) => {
      const stub = loaded.procedure(
        stubSymbol(name, probe),
        types.map((type) => (type === "string" ? "str" : type === "u64" ? "uint64_t" : "int64_t")),
      );
      const fire = firing(types, stub);
      const fireIfEnabled = (...values: unknown[]): void => {
        if (semaphores[i] !== 0) fire(values);
      };
      return [probe, Object.defineProperty(fireIfEnabled, "enabled", { get: () => semaphores[i] !== 0 })];
    }),
  ) as unknown as UsdtProvider<D>["probes"];
  let present = true;
  return {
    probes,
    path,
    [Symbol.dispose]() {
      if (!present) return;
      present = false;
      semaphores = new Uint16Array(entries.length);
      loaded.unload();
    },
  };
}

function checkNames(names: readonly string[]): void {
  for (const name of names) {
    if (!nameShape.test(name)) throw new TypeError(library().staticProbeName(name).message);
  }
}

function parametersOf(probe: string, types: readonly UsdtType[]): UsdtParameter[] {
  if (types.length > mostArguments)
    throw new TypeError(library().tooManyArguments(probe, types.length, mostArguments).message);
  return types.map((type) => {
    if (type === "string") return { size: 8, signed: false, float: false };
    const [, kind, bits] = /^([iuf])(8|16|32|64)$/.exec(type) ?? [];
    if (kind === undefined || (kind === "f" && Number(bits) < 32))
      throw new TypeError(library().unknownArgumentType(probe, type).message);
    return { size: (Number(bits) / 8) as UsdtParameter["size"], signed: kind === "i", float: kind === "f" };
  });
}

const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);
const double = new Float64Array(1);
const doubleBits = new BigInt64Array(double.buffer);

/** Whatever a program passes is turned into something of the type: tracing must not make a program fail. */
function firing(
  types: readonly UsdtType[],
  stub: ReturnType<ReturnType<typeof loadSharedObject>["procedure"]>,
): (values: readonly unknown[]) => void {
  const converters = types.map(converterOf);
  // By hand for the usual few: a call with an array of arguments costs more than the probe.
  const [a, b, c] = converters;
  switch (types.length) {
    case 0:
      return () => stub();
    case 1:
      return (values) => stub(a(values[0]));
    case 2:
      return (values) => stub(a(values[0]), b(values[1]));
    case 3:
      return (values) => stub(a(values[0]), b(values[1]), c(values[2]));
    default:
      return (values) => stub(...converters.map((convert, i) => convert(values[i])));
  }
}

function converterOf(type: UsdtType): (value: unknown) => number | bigint | string | null {
  switch (type) {
    case "string":
      return textOf;
    case "f32":
      return (value) => {
        single[0] = real(value);
        return singleBits[0];
      };
    case "f64":
      return (value) => {
        double[0] = real(value);
        return doubleBits[0];
      };
    case "i8":
    case "u8":
    case "i16":
    case "u16":
    case "i32":
    case "u32":
      return (value) => (typeof value === "number" ? value | 0 : Number(BigInt.asIntN(32, whole(value))));
    case "i64":
      return (value) => (Number.isSafeInteger(value) ? (value as number) : BigInt.asIntN(64, whole(value)));
    case "u64":
      return (value) =>
        Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : BigInt.asUintN(64, whole(value));
  }
}

/** The file with these bytes: made unless it is there. Nobody else can write in its folder. */
function fileOf(name: string, bytes: Uint8Array): string {
  const file = `${name}-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.so`;
  const path = join(ownFolder(), file);
  if (same(path, bytes)) return path;
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, bytes, { mode: 0o755 });
  renameSync(fresh, path);
  return path;
}

function same(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

function ownFolder(): string {
  const user = process.getuid?.() ?? 0;
  const shared = join(tmpdir(), `strobe-usdt-${user}`);
  try {
    mkdirSync(shared, { mode: 0o755 });
    return shared;
  } catch {
    // There already, or no folder can be made.
  }
  const stat = lstatSync(shared, { throwIfNoEntry: false });
  if (stat?.isDirectory() && stat.uid === user && (stat.mode & 0o022) === 0) return shared;
  // Somebody else's: one that goes unshared.
  return mkdtempSync(`${shared}-`);
}

// What is kept of a function's calls from their entry on, for its instructions or until they return: words in a hash
// map, by the thread and what tells its calls apart. A return takes its own entry away. Calls that never return
// (longjmp, exceptions, threads that end) leave theirs: the map forgets what was used least lately, and a later call at
// the same place writes over it.
import type { Context, KeptCalls } from "../../language/context.ts";
import { u64 } from "../../language/types.ts";
import type { Place, Value } from "../ir/ir.ts";
import { fetchValue } from "./fetch.ts";
import { lookup } from "./map-access.ts";
import { at } from "./memory.ts";
import { plainBuiltin } from "./builtins.ts";
import type { FunctionState } from "./state.ts";

/** Nobody can write this name, and whoever prints maps leaves it out. */
const mapName = ".calls";
/** Calls at a time; each CPU sets some of the map's entries aside for itself. */
const [mostCalls, mostOnCpu] = [8192, 512];

/** Puts the words where the return finds them. */
export function keepCall(f: FunctionState, calls: KeptCalls): void {
  const { build } = f;
  const map = mapOf(f, calls);
  const key = keyOf(f, calls, calls.atEntry);
  const size = calls.words.length * 8;
  const words = f.slotOf("kept", size);
  calls.words.forEach((word, i) =>
    build.emit({ op: "store", to: at(words, i * 8), value: fetchValue(f, word), size: 8 }),
  );
  build.emit({ op: "map-store", map, key, source: { kind: "copy", from: words, size } });
}

/**
 * Gives them back, and at a return forgets them; leaves the handler where nothing was kept, and counts it unless it is
 * another's.
 */
export function recallCall(f: FunctionState, { at: where, calls, shared }: NonNullable<Context["kept"]>): void {
  const { build } = f;
  const map = mapOf(f, calls);
  const key = keyOf(f, calls, calls.atUse);
  const entry = lookup(f, map, key);
  const { then, otherwise } = build.branch(build.compare("ne", entry, build.constant(0n)));
  if (where === "without") {
    build.start(then);
    build.return();
    build.start(otherwise);
    return;
  }
  build.start(otherwise);
  if (shared !== true) build.emit({ op: "loop-cut", loop: counterOf(f, where === "return" ? "return" : "inside") });
  build.return();
  build.start(then);
  const words = f.slotOf("kept", calls.words.length * 8);
  build.emit({ op: "entry-copy", to: words, map, entry, size: calls.words.length * 8 });
  f.kept = calls.words.map((_, i): Value =>
    build.give((result) => ({ op: "load", result, from: at(words, i * 8), size: 8, signed: false })),
  );
  if (where === "return") build.emit({ op: "map-delete", map, key });
}

function counterOf({ module, handler }: FunctionState, where: "inside" | "return"): number {
  const probe = handler.sites[0]?.name ?? handler.provider;
  const known = module.loops.findIndex(({ unkept }) => unkept?.probe === probe && unkept.where === where);
  return known >= 0 ? known : module.loops.push({ span: handler.probe.span, unkept: { probe, where } }) - 1;
}

function mapOf({ module }: FunctionState, calls: KeptCalls): number {
  let map = module.kept.get(calls);
  if (map === undefined) {
    map =
      module.maps.push({
        name: `${mapName}${module.kept.size}`,
        shown: mapName,
        keys: [u64, ...calls.atEntry.map(() => u64)],
        value: { kind: "array", element: u64, length: calls.words.length },
        evicts: true,
        entries: Math.max(mostCalls, module.options.capabilities.cpus * mostOnCpu),
      }) - 1;
    module.kept.set(calls, map);
  }
  return map;
}

function keyOf(f: FunctionState, { ofProcess }: KeptCalls, parts: KeptCalls["atEntry"]): Place {
  const { build } = f;
  const both = plainBuiltin(f, "pid-and-tid");
  const key = f.slotOf("call", 8 + parts.length * 8);
  build.emit({
    op: "store",
    to: key,
    value: ofProcess ? build.binary("lshr", both, build.constant(32n)) : both,
    size: 8,
  });
  parts.forEach((part, i) => build.emit({ op: "store", to: at(key, 8 + i * 8), value: fetchValue(f, part), size: 8 }));
  return key;
}

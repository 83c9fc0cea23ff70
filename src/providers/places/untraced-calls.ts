// Calls that a compiler inlined without a trace. LLVM writes nothing about a function that it inlined where it left no
// code of it, or merged what is left with other code. Of some such calls the code around them tells.
import type { DebugInfo, FunctionInstance, SourceFunction } from "../../debuginfo/dwarf/facts.ts";
import type { CodeRange } from "../../debuginfo/function-ends.ts";
import type { References } from "../../debuginfo/references.ts";
import { mayReturnAtOnce } from "../../debuginfo/immediate-return.ts";
import { readOthersFile } from "../../linux/others-files.ts";
import type { Binary } from "../../machine/system.ts";
import { inlinedCopies } from "../../messages/inlined-copies.ts";
import type { Message } from "../../messages/message.ts";
import { noteFile } from "../../store/seen-files.ts";

/** Of a file of source, in bytes. */
const largestSource = 1 << 24;
/** Functions that a note names. */
const named = 3;

type Ranges = Pick<FunctionInstance, "ranges">;
const holds = ({ ranges }: Ranges, address: bigint): boolean =>
  ranges.some(({ low, high }) => address >= low && address < high);
/** The code of the function with a body that an instance is, or is in. */
const bodyAround = (instance: FunctionInstance): Ranges => instance.caller ?? instance;

/** What is to be said of a function of LLVM's that has a body and no copies. */
export function untracedCalls(
  binary: Binary,
  wanted: string,
  info: DebugInfo,
  { fn, instance: body }: { readonly fn: SourceFunction; readonly instance: FunctionInstance },
): Message | undefined {
  const found = binary.references?.(body.entry);
  if (found === undefined) return undefined;
  const outside = (address: bigint): boolean => !holds(body, address);
  const references = { ...found, calls: found.calls.filter(outside), loads: found.loads.filter(outside) };
  if (fn.external === true && !found.elsewhere && references.calls.length + references.loads.length === 0)
    return inlinedCopies.folded(binary.shownPath, wanted);
  const callers = new Set([
    ...callersInSource(info, fn, body, references),
    ...(mayReturnAtOnce(codeOf(binary, body), body.entry) ? callersLikeOthers(info, references) : []),
  ]);
  if (callers.size === 0) return undefined;
  const shown =
    callers.size <= named ? [...callers].map((name) => `\`${name}\``).join(", ") : `${callers.size} functions`;
  return inlinedCopies.untraced(wanted, shown);
}

function codeOf(binary: Binary, { ranges }: FunctionInstance): CodeRange[] {
  return ranges.flatMap(({ low, high }) => {
    const offset = binary.fileOffset(low);
    return offset === undefined ? [] : [{ address: low, bytes: binary.read(offset, Number(high - low)) }];
  });
}

/** Functions that mention it where they have code, of which none leads to it. */
function callersInSource(
  info: DebugInfo,
  fn: SourceFunction,
  body: FunctionInstance,
  { calls, loads }: References,
): readonly string[] {
  const { file, line: declared } = fn.declared;
  const readable = (fn.language === "c" || fn.language === "c++") && /^\w+$/.test(fn.name) && file.startsWith("/");
  // In C++ a name is that of overloads and of members of other classes as well: whose a mention is only a compiler knows.
  const others = info
    .functionsNamed(fn.name)
    .some(({ declared: other }) => other.file !== file || other.line !== declared);
  if (!readable || (fn.language === "c++" && others)) return [];
  const mentions = linesMentioning(file, fn.name);
  mentions.delete(declared);
  if (mentions.size === 0) return [];
  const callers = new Set<string>();
  for (const { line, address } of info.lines(file)) {
    if (!mentions.has(line) || holds(body, address)) continue;
    const at = info.functionAt(address);
    if (at === undefined || callers.has(at.fn.name)) continue;
    const around = bodyAround(at.instance);
    if (![...calls, ...loads].some((reference) => holds(around, reference))) callers.add(at.fn.name);
  }
  return [...callers];
}

/** Lines of a file with a name in them, comments and texts apart; none without the file. */
function linesMentioning(file: string, name: string): Set<number> {
  let text: string;
  noteFile(file);
  try {
    text = readOthersFile(file, { limit: largestSource }).toString();
  } catch {
    return new Set();
  }
  const word = new RegExp(`\\b${name}\\b`);
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"/g, (apart) => apart.replaceAll(/[^\n]/g, " "));
  return new Set(code.split("\n").flatMap((line, i) => (word.test(line) ? [i + 1] : [])));
}

/**
 * Functions with a copy of a caller in which no call is left, where another copy of that caller has one. For most
 * functions the call is just not come to there; one that may return at once may have been called, and folded away.
 */
function callersLikeOthers(info: DebugInfo, { calls }: References): readonly string[] {
  const callers = new Map(
    calls.flatMap((call) => info.functionAt(call)?.fn ?? []).map((caller) => [caller.name, caller]),
  );
  return [...callers.values()].flatMap((caller) =>
    info
      .functionsNamed(caller.name)
      .filter(({ declared }) => declared.file === caller.declared.file && declared.line === caller.declared.line)
      .flatMap(({ instances }) => instances)
      .filter((instance) => !calls.some((call) => holds(bodyAround(instance), call)))
      .map((instance) => instance.caller?.name ?? caller.name),
  );
}

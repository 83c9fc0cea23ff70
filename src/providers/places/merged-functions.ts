// What is to be said of functions whose code a compiler or linker made one, since it was equal: a probe on one of them
// sees the calls of all.
import { DamageError } from "../../debuginfo/damage.ts";
import type { Definition } from "../../debuginfo/dwarf/facts.ts";
import { Failure } from "../../base/failure.ts";
import type { Binary } from "../../machine/system.ts";
import { inlinedCopies } from "../../messages/inlined-copies.ts";
import type { Message } from "../../messages/message.ts";

/** What compilers put behind the name of a function that they made another of. */
const cloned = /\.(?:constprop|isra|part|cold|lto_priv|localalias|llvm)\b.*$/;
/** Names that are listed. */
const listed = 3;

/** Notes on the function of a name whose bodies are at offsets of the file. */
export function mergedNotes(binary: Binary, wanted: string, bodies: readonly bigint[]): readonly Message[] {
  try {
    const info = binary.debugInfo?.("at hand");
    if (info === undefined || info instanceof Failure) return [];
    const others = mergedWith(binary, wanted, bodies);
    if (others.length > 0) return [inlinedCopies.mergedWith(wanted, shown(others))];
    const address = bodies.length === 1 ? binary.address(bodies[0]) : undefined;
    if (address !== undefined && info.isLeftAsThunk(address, plain(wanted))) return [inlinedCopies.leftAsThunk(wanted)];
    const perhaps = info.maybeMergedWith(plain(wanted)).filter((name) => {
      const symbol = binary.symbol(name);
      return symbol === undefined || info.isLeftAsThunk(symbol.address, name);
    });
    return perhaps.length > 0 ? [inlinedCopies.perhapsMergedWith(wanted, shown(perhaps), perhaps.length)] : [];
  } catch (error) {
    // The function's body is there whatever is wrong with what is said of it.
    if (error instanceof DamageError) return [];
    throw error;
  }
}

/** Functions of the sources that have their code where the wanted one has it; an alias is no function of its own. */
export function mergedWith(binary: Binary, wanted: string, bodies: readonly bigint[]): readonly string[] {
  const info = binary.debugInfo?.("at hand");
  if (info === undefined || info instanceof Failure) return [];
  let own: ReadonlySet<string> | undefined;
  const found = new Set<string>();
  for (const body of bodies) {
    const address = binary.address(body);
    const names = new Set((binary.namesAt?.(body) ?? []).map((name) => name.replace(cloned, "")));
    const described = address === undefined ? [] : info.bodiesAt(address);
    if (names.size < 2 && described.length < 2) continue;
    own ??= new Set(info.definitionsNamed(plain(wanted)).map(identity));
    // A name alone may be an alias; but not one that GCC describes and left no code of.
    if (own.size === 0) {
      for (const { name } of described) if (info.maybeMergedWith(name).includes(plain(wanted))) found.add(name);
      continue;
    }
    for (const each of described) if (!own.has(identity(each))) found.add(each.name);
    for (const name of names) {
      const definitions = info.definitionsNamed(name);
      if (
        definitions.length === 0
          ? info.maybeMergedWith(plain(wanted)).includes(name)
          : !definitions.some((each) => own!.has(identity(each)))
      )
        found.add(name);
    }
  }
  return [...found];
}

/** What is declared in one place is one function: its aliases, and the constructors of C++ that it becomes. */
const identity = ({ qualifiedName, declared: { file, line } }: Definition): string =>
  [qualifiedName, file, line].join("\0");

/** Without the parameters that tell overloads apart. */
const plain = (name: string): string => name.replace(cloned, "").replace(/(?<=.)\(.*$/s, "");

function shown(names: readonly string[]): string {
  const first = names.slice(0, listed).map((name) => `\`${name}\``);
  const rest = names.length - first.length;
  return rest > 0 ? `${first.join(", ")} and ${rest} more` : first.join(", ").replace(/, (?=[^,]*$)/, " and ");
}

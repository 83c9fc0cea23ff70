// Functions and static probes of programs.
import type { DebugInfo } from "../debuginfo/dwarf/facts.ts";
import { findBinaries, noBinary } from "../machine/binaries/binaries.ts";
import { DebugTypes } from "../machine/values/debug-types.ts";
import type { Binary, System } from "../machine/system.ts";
import type { Page } from "./page.ts";
import { argumentsText, propertyName, typeText, type Place } from "./type-text.ts";
import { Failure } from "../base/failure.ts";

/** A program that is not there. */
export class NoSuchProgram extends Error {
  constructor(program: string) {
    super(noBinary(program).message);
    this.name = "NoSuchProgram";
  }
}

/**
 * Fills `UserFunctions` and `UserProbes`. Where a program has debug information its functions have parameters and results, else
 * just names.
 * @throws NoSuchProgram
 */
export function declarePrograms(programs: readonly string[], system: System, page: Page): void {
  const probes: string[] = [];
  for (const program of programs) {
    const [binary] = findBinaries(program, undefined, system);
    if (binary === undefined) throw new NoSuchProgram(program);
    page.line(
      `${JSON.stringify(program)}: {\n${functionLines(binary, page.place)
        .map((line) => `      ${line};\n`)
        .join("")}    }`,
      "UserFunctions",
    );
    const usdt = new Map(
      binary.usdtProbes().map(({ provider, name, argumentText }) => [`${provider}:${name}`, argumentText]),
    );
    if (usdt.size === 0) continue;
    const lines = [...usdt]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, text]) => `      ${JSON.stringify(name)}: ${usdtArguments(text)};\n`);
    probes.push(`${JSON.stringify(program)}: {\n${lines.join("")}    }`);
  }
  for (const program of probes) page.line(program, "UserProbes");
}

function functionLines(binary: Binary, place: Place): string[] {
  const info = binary.debugInfo?.();
  const lines = new Map<string, string>();
  for (const { kind, name } of binary.symbols()) if (kind === "function") lines.set(name, "{}");
  if (info !== undefined && !(info instanceof Failure)) {
    const types = new DebugTypes(info, "user");
    // Names of C++ and Rust are those of the source; what the linker calls them is a name as well.
    const linked = [...lines.keys()].filter((name) => /^_[RZ]/.test(name));
    for (const name of [...info.functionNames(), ...linked]) {
      const text = signature(info, name, types, place);
      if (text !== undefined) lines.set(name, text);
    }
  }
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `${propertyName(name)}: ${text}`);
}

function signature(info: DebugInfo, name: string, types: DebugTypes, place: Place): string | undefined {
  const [fn] = info.functionsNamed(name);
  if (fn === undefined) return undefined;
  const args = fn.parameters.map((parameter) => ({ name: parameter.name, type: types.typeOf(parameter.type) }));
  const retval = fn.result === undefined ? "" : `; retval: ${typeText(types.typeOf(fn.result), place)}`;
  return `{ args: ${argumentsText(args, place)}${retval} }`;
}

/** `-4@%edi 8@16(%rbp)`: a signed number of four bytes, an unsigned one of eight. */
function usdtArguments(text: string): string {
  const words = [...text.matchAll(/(?:^|\s)(-?)([1248])f?@/g)];
  return `[${words.map(([, sign, bytes]) => `${sign === "-" ? "i" : "u"}${Number(bytes) * 8}`).join(", ")}]`;
}

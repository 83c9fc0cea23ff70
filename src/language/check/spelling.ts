// Names as the script's author spells them, for messages.
import { builtinsFor } from "../builtins/table.ts";
import { writtenName } from "../written-name.ts";
import type { Program } from "../program.ts";

/** Whatever knows the script. */
interface Of {
  readonly pass: { readonly program: Program };
}

/** A map as its author spells it. */
export function mapName({ pass }: Of, name: string): string {
  return pass.program.rules.spelling.map(name);
}

/** A variable as its author spells it. */
export function variableName({ pass }: Of, name: string): string {
  return pass.program.rules.spelling.variable(name);
}

/** What to say of a cast: `cast it: ` and the cast. `value` may be empty. Undefined where the language has none. */
export function castHelp({ pass }: Of, before: string, type: string, value = ""): string | undefined {
  const cast = pass.program.rules.spelling.cast(type, value);
  return cast === undefined ? undefined : before + cast;
}

/** A builtin or a function of the script as its author spells it. */
export function functionName({ pass }: Of, name: string): string {
  return writtenName(builtinsFor(pass.program.rules).spelled(name));
}

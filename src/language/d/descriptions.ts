// Probe descriptions as they are written: four parts.
import { partsOf, tokens } from "../own-names.ts";
import { scan } from "./tokens.ts";

export interface Described {
  readonly provider: string;
  readonly module: string;
  readonly function: string;
  readonly name: string;
}

/** Parts are counted from the right: `write:entry` is a function and a name. */
export function describe(text: string): Described | undefined {
  const parts = text.split(":");
  if (parts.length > 4) return undefined;
  const [name, of, module, provider] = parts.toReversed().map((part) => part.trim());
  return { provider: provider ?? "", module: module ?? "", function: of ?? "", name };
}

/** A glob of a description, as the text of a regular expression. */
export function globSource(glob: string): string {
  return glob
    .replaceAll(/[.+^${}()|\\]/g, "\\$&")
    .replaceAll("*", "[^:]*")
    .replaceAll("?", "[^:]");
}

const declaring: ReadonlySet<string> = new Set(["struct", "union", "enum", "typedef", "translator", "inline"]);

/** The descriptions in front of a script's clauses, in their order. */
export function descriptionsIn(text: string): readonly string[] {
  const code = text.replaceAll(/^[ \t]*#.*$/gm, "");
  return partsOf(tokens(code, { scan })).flatMap(({ head, body }) => {
    if (body.length === 0 || head.length === 0 || declaring.has(head[0].text)) return [];
    return code
      .slice(head[0].start, body[0].start)
      .replaceAll(/\/\*[^]*?\*\//g, "")
      .replace(/\/[^]*$/, "")
      .split(",")
      .map((one) => one.trim());
  });
}

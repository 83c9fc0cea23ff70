// A program in TypeScript while it is written: its names, what it imports, and what surrounds the statement that is
// being written.
import type { Message } from "../../../messages/message.ts";
import { builtinsFor } from "../../builtins/table.ts";
import { typescriptRules } from "../rules.ts";
import type { Diagnostic, Span } from "../../diagnostic.ts";
import type { Expression, FunctionDeclaration, MapAccess, Program, Statement, TypeName } from "../../program.ts";
import type { FindSpelling, ProbeSpellings } from "../../probe-spelling.ts";
import { casts, specialNames } from "../specials.ts";
import { TypeWriter } from "./types.ts";

const reserved = (
  "abstract arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
  "finally for function if implements import in instanceof interface let new null package private protected public return static super switch " +
  "this throw true try typeof var void while with yield undefined NaN Infinity console process Number BigInt Boolean Math Date JSON Object Array " +
  "Map Set Promise Symbol RegExp Error globalThis Buffer fetch require args retval map trace probe event emit withCaptures"
).split(" ");

/** What is written in a file that needs this one. */
interface Walk {
  /** Values of blocks have statements. */
  readonly statements: (w: Writing, statements: readonly Statement[]) => string[];
  /** An operand of `typeof`. */
  readonly operand: (w: Writing, value: Expression) => string;
}

export class Writing {
  readonly diagnostics: Diagnostic[] = [];
  readonly program: Program;
  readonly walk: Walk;
  /** Of kinds of probes. */
  readonly spelling: FindSpelling;
  readonly types: TypeWriter;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** By the script's names for them. */
  readonly maps = new Map<string, string>();
  /** Of the function that is being written. */
  result: TypeName | undefined;
  /** Declarations that the statement being written needs before it. */
  readonly before: string[] = [];
  /** Variables that are declared here, in scopes. */
  scopes: Set<string>[] = [];
  /** Whether the handler being written asks for its probe's arguments. */
  usesArguments = false;
  readonly #imports = new Set<string>();
  readonly #spelling: ReadonlyMap<string, string>;
  readonly #taken: Set<string>;
  readonly #names = new Map<string, string>();

  constructor(program: Program, { find, constructors }: ProbeSpellings, walk: Walk) {
    this.program = program;
    this.spelling = find;
    this.walk = walk;
    this.functions = new Map(program.functions.map((one) => [one.name, one]));
    const names = builtinsFor(typescriptRules);
    this.#spelling = new Map(names.names().map((name) => [names.canonical(name), name]));
    this.#taken = new Set([
      ...reserved,
      ...this.#spelling.values(),
      ...specialNames,
      ...Object.keys(casts),
      ...constructors,
    ]);
    this.types = new TypeWriter({
      imported: (name) => this.imported(name),
      unique: (wanted) => this.unique(wanted),
      operand: (value) => walk.operand(this, value),
    });
  }

  mapName({ name }: MapAccess): string {
    return this.maps.get(name) ?? name;
  }

  variableName(name: string): string {
    return this.nameOf("variable", name);
  }

  nameOf(kind: "variable" | "function", name: string): string {
    const key = `${kind} ${name}`;
    let own = this.#names.get(key);
    if (own === undefined) this.#names.set(key, (own = this.unique(name)));
    return own;
  }

  /** Of a function that the script declares. */
  functionName(name: string): string | undefined {
    return this.functions.has(name) ? this.nameOf("function", name) : undefined;
  }

  /** What the library calls a builtin. */
  spelled(builtin: string): string {
    return this.#spelling.get(builtin) ?? builtin;
  }

  /** A name that nothing else has. */
  unique(wanted: string): string {
    const base = wanted.replace(/\W/g, "_").replace(/^(?=\d)/, "_");
    let name = base;
    for (let n = 2; this.#taken.has(name); n++) name = `${base}${n}`;
    this.#taken.add(name);
    return name;
  }

  /** Imports a name of the library, and gives it back. */
  imported(name: string): string {
    this.#imports.add(name);
    return name;
  }

  importLine(): string {
    return `import { ${[...this.#imports].sort(byName).join(", ")} } from "strobe";\n`;
  }

  refuse(span: Span, said: Message): void {
    this.diagnostics.push({ severity: "error", span, ...said });
  }
}

export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

function byName(a: string, b: string): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : 0;
}

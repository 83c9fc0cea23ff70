// The way back: from the tree, whichever language it was written in, to a program in TypeScript that traces the same.
// What the tree says and a handler cannot is refused where it stands, never left out.
import type { Diagnostic } from "../../diagnostic.ts";
import type { ProbeSpellings } from "../../probe-spelling.ts";
import type { FunctionDeclaration, Program, TypeName } from "../../program.ts";
import { castOf, unaryStrength, valueText } from "./expressions.ts";
import { probeText } from "./probes.ts";
import { blockText, statementTexts } from "./statements.ts";
import { indented, Writing } from "./writing.ts";

export interface TypeScriptProgram {
  readonly text: string;
  /** What cannot be said in TypeScript. The text is of no use if there are any. */
  readonly diagnostics: readonly Diagnostic[];
}

export function typescriptOf(program: Program, spellings: ProbeSpellings): TypeScriptProgram {
  const w = new Writing(program, spellings, {
    statements: statementTexts,
    operand: (own, value) => valueText(own, value, unaryStrength),
  });
  const text = programText(w);
  return { text, diagnostics: w.diagnostics };
}

function programText(w: Writing): string {
  const { config, functions, probes, source } = w.program;
  const types = w.types.declarations(w.program);
  for (const name of mapsOf(w.program)) w.maps.set(name, w.unique(name === "" ? "unnamed" : name));
  for (const { name } of functions) w.nameOf("function", name);
  const functionTexts = functions.map((declaration) => functionText(w, declaration));
  const probeTexts = probes.map((one) => probeText(w, one));
  const options = traceOptions(w, config);
  const mapTexts = [...w.maps].map(([name, own]) => mapDeclaration(w, name, own));
  w.imported("trace");
  return (
    `${leadingComment(source.text)}${w.importLine()}\n` +
    `${types.join("")}${types.length > 0 ? "\n" : ""}${mapTexts.join("")}${mapTexts.length > 0 ? "\n" : ""}` +
    functionTexts.map((text) => `${text}\n`).join("") +
    `const session = await trace(\n${[...probeTexts, ...options].map((text) => `${indented(text)},\n`).join("")});\n` +
    'for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => session.stop());\n' +
    "process.exitCode = (await session.ended).exitCode;\n"
  );
}

function mapDeclaration(w: Writing, name: string, own: string): string {
  const declared = w.program.maps.find((one) => one.name === name);
  const options = [
    ...(own === name ? [] : [`name: ${JSON.stringify(name)}`]),
    ...(declared ? [`storage: ${JSON.stringify(declared.storage)}`] : []),
    ...(declared?.entries === undefined ? [] : [`entries: ${declared.entries}`]),
  ];
  return `const ${own} = ${w.imported("map")}(${options.length > 0 ? `{ ${options.join(", ")} }` : ""});\n`;
}

function functionText(w: Writing, { name, parameters, result, body }: FunctionDeclaration): string {
  w.result = result;
  const names = parameters.map((parameter) => w.variableName(parameter.name));
  w.scopes = [new Set(parameters.map((parameter) => parameter.name))];
  const typed = parameters.map(({ type }, i) => `${names[i]}: ${parameterType(type)}`);
  const text = `function ${w.nameOf("function", name)}(${typed.join(", ")}) ${blockText(w, body)}\n`;
  w.result = undefined;
  return text;
}

function parameterType(type: TypeName | undefined): string {
  const short = type && castOf(type);
  if (short !== undefined) return "number";
  return type?.name === "string" ? "string" : "any";
}

/** The options of the trace: what the script sets, and what its language does by itself. */
function traceOptions(w: Writing, config: Program["config"]): string[] {
  const given = new Map(
    config.map(({ name, value }) => [name.toLowerCase().replace(/^(bpftrace|strobe)_/, ""), value]),
  );
  const prints = given.get("print_maps_on_exit") ?? String(w.program.rules.printsMapsAtEnd);
  given.delete("print_maps_on_exit");
  if ((prints === "true" || prints === "1") && w.maps.size > 0) given.set("print_maps_on_exit", "true");
  const entries = [...given].map(([name, value]) => {
    const spelled = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return `${spelled}: ${/^(\d+|true|false)$/.test(value) ? value : JSON.stringify(value)}`;
  });
  return entries.length === 0 ? [] : [`{ settings: { ${entries.join(", ")} } }`];
}

/** The comment at a script's top: what it is for. */
function leadingComment(text: string): string {
  return /^(?:#!.*\n)?((?:\/\/.*\n)+)/.exec(text)?.[1] ?? "";
}

/** Names of all maps, in the order in which they come up. */
function mapsOf(program: Program): ReadonlySet<string> {
  const found = new Set(program.maps.map(({ name }) => name));
  const search = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) return value.forEach(search);
    if ("kind" in value && value.kind === "map" && "keys" in value && "name" in value) found.add(String(value.name));
    for (const [key, inner] of Object.entries(value)) if (key !== "type" && key !== "span") search(inner);
  };
  search(program.functions);
  search(program.probes);
  return found;
}

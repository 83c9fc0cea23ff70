// A module's text with its handlers wrapped, so that each carries what it captures and where it was written:
//
//   tracepoint("…", (args) => { bytes.at(comm).count(); })
//   tracepoint("…", withCaptures((args) => { bytes.at(comm).count(); }, () => ({ bytes, comm }), { file, text, offset, code }))
//
// Captures are a function, evaluated when a probe is attached, so that a handler may name what is defined further down.
// Nothing is inserted but within lines, so lines keep their numbers; a module without handlers is left as it is, byte
// by byte.
import { firstIndex } from "../base/first-index.ts";
import type { AnyNode, Options, Program } from "acorn";
import { fromPackage } from "../linux/packages.ts";
import { findHandlers, type Handler, type LibraryNames } from "./handlers.ts";
import { analyze, childrenOf, nameOf, type FunctionLike, type Scopes } from "./scopes.ts";
import { lowerUsing, mayNeedUsing } from "./using.ts";
import { lazy } from "../base/lazy.ts";

/** Loaded when a file is first rewritten: what is kept from before needs neither. */
const parser = lazy<typeof import("acorn")>(() => fromPackage(() => require("acorn")));
const editor = lazy<typeof import("magic-string")>(() => fromPackage(() => require("magic-string")));

export interface Module {
  /** Its path, as messages name it. */
  readonly file: string;
  readonly text: string;
  /** The text as JavaScript, in place: types blanked, nothing moved. Absent when it is JavaScript. */
  readonly javascript?: string;
}

export interface RewriteOptions {
  /** Which names other modules have from the library; `"strobe"` has all of them. */
  readonly names?: LibraryNames;
  /**
   * What to insert into: the text as it was written (for a bundler that knows types itself) or the JavaScript (the
   * default).
   */
  readonly into?: "text" | "javascript";
  /** Rewrites `using` and `await using` where this Node does not know them; into JavaScript only. */
  readonly lowersUsing?: boolean;
}

export interface Rewritten {
  readonly code: string;
  /** Source map, version 3, as JSON: for columns, as lines are the same. Made when called. */
  map(): string;
}

/**
 * Wraps the handlers of a module, and lowers what Node does not know. Undefined when it has neither, or is not
 * JavaScript: then whoever runs it says what is wrong.
 */
export function rewriteModule(
  { file, text, javascript = text }: Module,
  options: RewriteOptions = {},
): Rewritten | undefined {
  const { names = ownNames, into = "javascript", lowersUsing = false } = options;
  const program = parsed(javascript);
  if (!program) return undefined;
  const handlers = options.names || mayHaveHandlers(text) ? findHandlers(program, analyze(program), names) : [];
  const target = into === "text" ? text : javascript;
  const edits = new (editor().MagicString)(target);
  const lowered = lowersUsing && mayNeedUsing(text) && lowerUsing(program, edits);
  const rewritten: Rewritten = {
    get code() {
      return edits.toString();
    },
    map: () => edits.generateMap({ source: file, includeContent: true, hires: "boundary" }).toString(),
  };
  if (handlers.length === 0) return lowered ? rewritten : undefined;
  const parents = parentsOf(program, new Set<AnyNode>(handlers.map(({ node }) => node)));
  const wrapper = unusedName(text);
  const starts = lineStarts(text);
  const ofModule: string[] = [];
  for (const handler of handlers) {
    const wrap = wrapping(handler, parents.get(handler.node) ?? program, javascript);
    const rest = `, () => (${objectOf(handler.captures)}), ${placeText(file, text, javascript, starts, wrap)})`;
    switch (wrap.kind) {
      case "expression":
        edits.appendRight(startIn(target, javascript, wrap.start), `${wrap.ahead}${wrapper}(${wrap.open}`);
        edits.prependLeft(wrap.end, `${wrap.close}${rest}${wrap.behind}`);
        break;
      case "module":
        ofModule.push(`${wrapper}(${wrap.name}${rest}; `);
        break;
      case "block":
        edits.appendLeft(wrap.at, `${wrap.separator} ${wrapper}(${wrap.name}${rest};`);
        break;
    }
  }
  const prologue = usesModules(program, javascript)
    ? `import { withCaptures as ${wrapper} } from "strobe"; `
    : `const { withCaptures: ${wrapper} } = require("strobe"); `;
  const start = javascript.startsWith("#!") ? javascript.indexOf("\n") + 1 : 0;
  const { at, separator } = afterDirectives(program.body, start, javascript);
  edits.appendLeft(at, separator + prologue + ofModule.join(""));
  return rewritten;
}

/** A function that is compiled from its source, and where its text is that can be read alone. */
export interface PlacedHandler extends Handler {
  readonly start: number;
  readonly end: number;
}

/** The handlers of a module, for whoever does not rewrite it. */
export function placedHandlers(
  program: Program,
  scopes: Scopes,
  names: LibraryNames,
  javascript: string,
): PlacedHandler[] {
  const handlers = findHandlers(program, scopes, names);
  const parents = parentsOf(program, new Set<AnyNode>(handlers.map(({ node }) => node)));
  return handlers.map((handler) => {
    const { start, end } = wrapping(handler, parents.get(handler.node) ?? program, javascript);
    return { ...handler, start, end };
  });
}

/** Whether a module may have handlers: cheap, before anything is parsed. */
export function mayHaveHandlers(text: string): boolean {
  return /["'`]strobe["'`]/.test(text);
}

export const ownNames: LibraryNames = (specifier) => (specifier === "strobe" ? "*" : undefined);

/** A file's tree as a module or, failing that, as CommonJS. */
export function parsed(javascript: string): Program | undefined {
  const options: Options = { ecmaVersion: "latest", sourceType: "module", allowHashBang: true };
  const { parse } = parser();
  for (const sourceType of ["module", "commonjs"] as const) {
    try {
      return parse(javascript, { ...options, sourceType });
    } catch (error) {
      // Too deep for a parser that recurses is no syntax error, and no better the second time.
      if (error instanceof RangeError) return undefined;
    }
  }
  return undefined;
}

/** Whether a text is an ECMAScript module: by what only those have. */
export function usesModules(program: Program, javascript: string): boolean {
  if (program.sourceType !== "module") return false;
  if (program.body.some(({ type }) => type === "ImportDeclaration" || type.startsWith("Export"))) return true;
  // `import.meta` and `await` at the top do not parse as CommonJS.
  try {
    parser().parse(javascript, { ecmaVersion: "latest", sourceType: "commonjs", allowHashBang: true });
    return false;
  } catch {
    return true;
  }
}

/**
 * How a function is wrapped: where it stands, or, for a declaration, by a call before any statement of its block runs.
 */
type Wrapping = { readonly start: number; readonly end: number } & (
  | {
      readonly kind: "expression";
      /** Before the wrapper's call, within its parentheses around the function, and behind all. */
      readonly ahead: string;
      readonly open: string;
      readonly close: string;
      readonly behind: string;
    }
  | { readonly kind: "module"; readonly name: string }
  | { readonly kind: "block"; readonly name: string; readonly at: number; readonly separator: string }
);

function wrapping({ node }: Handler, parent: AnyNode, javascript: string): Wrapping {
  const { start, end } = node;
  if (node.type === "FunctionDeclaration" && node.id) {
    const { name } = node.id;
    if (parent.type === "BlockStatement" || parent.type === "StaticBlock") {
      const open = javascript.indexOf("{", parent.start) + 1;
      return { kind: "block", start, end, name, ...afterDirectives(parent.body, open, javascript) };
    }
    // The cases of a switch share a block that has no start.
    if (parent.type === "SwitchCase" || parent.type === "LabeledStatement" || parent.type === "IfStatement") {
      return { kind: "block", start, end, name, at: end, separator: "" };
    }
    return { kind: "module", start, end, name };
  }
  if (parent.type === "Property" && parent.method) {
    // A method is one only in an object, so it gets one of its own.
    const key = javascript.slice(parent.key.start, parent.key.end);
    return {
      kind: "expression",
      start: parent.start,
      end: parent.end,
      ahead: `${key}: `,
      open: "{ ",
      close: ` }${memberText(parent.key, key)}`,
      behind: "",
    };
  }
  // Functions are named after what they are assigned to, and stay so.
  const key = namedAfter(node, parent);
  const text = key && javascript.slice(key.start, key.end);
  const behind = parent.type === "ExportDefaultDeclaration" && node.type === "FunctionDeclaration" ? ";" : "";
  if (!key || !text || nameOf(key) === "__proto__")
    return { kind: "expression", start, end, ahead: "", open: "", close: "", behind };
  return {
    kind: "expression",
    start,
    end,
    ahead: "",
    open: `{ ${text}: `,
    close: ` }${memberText(key, text)}`,
    behind,
  };
}

function memberText(key: AnyNode, text: string): string {
  return key.type === "Identifier" ? `.${text}` : `[${text}]`;
}

/** What an anonymous function takes its name from. */
function namedAfter(node: FunctionLike, parent: AnyNode): AnyNode | undefined {
  if (node.type !== "ArrowFunctionExpression" && node.id) return undefined;
  switch (parent.type) {
    case "VariableDeclarator":
      return parent.id.type === "Identifier" ? parent.id : undefined;
    case "AssignmentPattern":
    case "AssignmentExpression":
      return parent.left.type === "Identifier" ? parent.left : undefined;
    case "Property":
      return parent.computed ? undefined : parent.key;
    default:
      return undefined;
  }
}

/** The end of a block's directives ("use strict"), or its start, and what has to stand before a statement there. */
function afterDirectives(
  body: readonly AnyNode[],
  start: number,
  javascript: string,
): { readonly at: number; readonly separator: string } {
  let at = start;
  for (const statement of body) {
    if (statement.type !== "ExpressionStatement" || statement.directive === undefined) break;
    at = statement.end;
  }
  return { at, separator: at === start || javascript[at - 1] === ";" ? "" : ";" };
}

/** What `Place` says of a function: its lines, behind as many empty ones as come before them in the file. */
function placeText(
  file: string,
  text: string,
  javascript: string,
  starts: readonly number[],
  { start, end }: Wrapping,
): string {
  const before = lineAt(starts, start);
  const lineStart = starts[before];
  const lineEnd = starts[lineAt(starts, end) + 1] ?? text.length + 1;
  const lines = JSON.stringify(text.slice(lineStart, lineEnd - 1));
  return (
    `{ file: ${JSON.stringify(file)}, text: ${before > 0 ? `"\\n".repeat(${before}) + ` : ""}${lines}, offset: ${before + start - lineStart}, ` +
    `code: ${JSON.stringify(javascript.slice(start, end))} }`
  );
}

/** Offsets of the lines' first characters. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Index of the line that an offset is in. */
function lineAt(starts: readonly number[], offset: number): number {
  return firstIndex(starts.length, (i) => starts[i] > offset) - 1;
}

function objectOf(names: readonly string[]): string {
  return names.length === 0 ? "{}" : `{ ${names.join(", ")} }`;
}

/** Where a function starts in the text as it was written: what was blanked right before it are its type parameters. */
function startIn(target: string, javascript: string, start: number): number {
  if (target === javascript) return start;
  let from = start;
  while (from > 0 && /\s/.test(javascript[from - 1])) from--;
  for (let at = from; at < start; at++) if (target[at] !== javascript[at]) return at;
  return start;
}

function parentsOf(program: Program, nodes: ReadonlySet<AnyNode>): ReadonlyMap<AnyNode, AnyNode> {
  const parents = new Map<AnyNode, AnyNode>();
  const visit = (node: AnyNode): void => {
    for (const child of childrenOf(node)) {
      if (nodes.has(child)) parents.set(child, node);
      visit(child);
    }
  };
  visit(program);
  return parents;
}

function unusedName(text: string): string {
  let name = "__strobe";
  while (text.includes(name)) name += "_";
  return name;
}

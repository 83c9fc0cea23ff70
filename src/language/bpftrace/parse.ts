// bpftrace's language: from text to the tree. No I/O; every mistake becomes a diagnostic, and whatever could be read is
// in the program all the same.
import { macros } from "../../messages/macros.ts";
import { preprocessor } from "../../messages/preprocessor.ts";
import { syntax, syntaxReasons } from "../../messages/syntax.ts";
import type { Diagnostic, Source } from "../diagnostic.ts";
import { partAt } from "../source-parts.ts";
import type {
  ConfigEntry,
  EnumDeclaration,
  Expression,
  FunctionDeclaration,
  MapDeclaration,
  Probe,
  Program,
  StructDeclaration,
} from "../program.ts";
import { Cursor, type Grammar, type ParseOptions } from "./cursor.ts";
import { definesType, parseConfig, parseFunction, parseMapDeclaration, parseTypeDefinition } from "./declarations.ts";
import { parseExpression } from "./expressions.ts";
import { checkDefinition, collectMacros, macroAt } from "./macros.ts";
import { preprocess } from "./preprocess.ts";
import { parseProbe } from "./probes.ts";
import { bpftraceRules } from "./rules.ts";
import { parseBody, parseIf, startsProbe } from "./statements.ts";
import { Failure, saidBy } from "../../base/failure.ts";
import { failure } from "../words.ts";

export type { ParseOptions } from "./cursor.ts";

const grammar: Grammar = { expression: parseExpression, body: parseBody, ifElse: parseIf };

export interface Parsed {
  readonly program: Program;
  readonly diagnostics: Diagnostic[];
  /** All of the text is in the tree, wrong as it may be. */
  readonly whole: boolean;
}

/** An expression that stands alone; what is wrong with it, where it is none. */
export function parseExpressionText(text: string): Expression | Failure {
  const p = new Cursor({ name: "", text }, preprocess(text), { positional: [] }, grammar);
  try {
    const read = parseExpression(p);
    const [problem] = p.diagnostics;
    if (problem !== undefined) return new Failure(saidBy(problem));
    return p.token.kind === "end" ? read : new Failure(syntaxReasons.unexpected(p.token.text));
  } catch (error) {
    if (error !== failure) throw error;
    const [problem] = p.diagnostics;
    return new Failure(problem === undefined ? syntaxReasons.noExpression() : saidBy(problem));
  }
}

export function parse(source: Source, options: ParseOptions): Parsed {
  const prepared = preprocess(source.text);
  const p = new Cursor(source, prepared, options, grammar);
  const config: ConfigEntry[] = [];
  let configured = false;
  const structs: StructDeclaration[] = [];
  const enums: EnumDeclaration[] = [];
  const maps: MapDeclaration[] = [];
  const functions: FunctionDeclaration[] = [];
  const probes: Probe[] = [];
  // What is imported stands before the script itself.
  const script = source.parts?.at(-1)?.start ?? 0;

  for (const { path, system, span } of prepared.includes) {
    if (!system) p.report("warning", span, preprocessor.includeIgnored(path));
  }
  collectMacros(p);
  while (p.token.kind !== "end" && !p.tooManyErrors) {
    const start = p.token.start;
    p.unclosed = false;
    try {
      p.statementLinks(item);
    } catch (error) {
      if (error !== failure) throw error;
      p.expansion = undefined;
      p.predicate = false;
      recover(p, start);
    }
  }
  if (probes.length === 0 && functions.length === 0 && !p.diagnostics.some((d) => d.severity === "error")) {
    p.report("error", { start: source.text.length, end: source.text.length }, syntax.noProbe());
  }
  const program: Program = {
    source,
    rules: bpftraceRules,
    config,
    structs,
    enums,
    maps,
    functions,
    probes,
    ...(p.options.size === 0 ? {} : { options: [...p.options.values()] }),
  };
  // Headers are full of what only C has a use for.
  const told = p.diagnostics.filter(({ severity, span }) => severity === "error" || !inHeader(span.start));
  const whole = !p.failed && !told.some(({ severity, code }) => severity === "error" && code === "syntax");
  return { program, diagnostics: told.sort((a, b) => a.span.start - b.span.start), whole };

  function inHeader(offset: number): boolean {
    return source.parts !== undefined && partAt(source, offset).name.endsWith(".h");
  }

  function item(): void {
    const { token } = p;
    if (inHeader(token.start) && !isDefinition(p)) return skipDeclaration(p);
    if (token.kind === "identifier") {
      const next = p.peek();
      switch (token.text) {
        case "config":
          if (next.text !== "=") break;
          if (configured) p.report("error", token, syntax.secondConfig());
          if (probes.some((probe) => probe.span.start >= script)) p.report("error", token, syntax.lateConfig());
          configured = true;
          return parseConfig(p, config);
        case "struct":
        case "union":
        case "enum":
        case "typedef":
          return parseTypeDefinition(p, { structs, enums });
        case "let":
          maps.push(parseMapDeclaration(p));
          return;
        case "fn":
          functions.push(parseFunction(p));
          return;
        case "macro":
          return macroDefinition(p);
        case "import": {
          p.advance();
          if (p.token.kind !== "string") p.fail(syntax.expected("a path in quotes after `import`", p.describe()));
          const path = p.advance();
          p.accept(";");
          p.report("error", { start: token.start, end: path.end }, preprocessor.importIgnored());
          return;
        }
      }
    } else if (token.kind === "punctuation" && token.text === ";") {
      p.advance();
      return;
    } else if (token.kind === "punctuation" && token.text === "}") {
      p.fail(syntax.unmatchedBrace());
    } else if (token.kind === "punctuation" && (token.text === "{" || token.text === "/")) {
      p.fail(syntax.expectedProbe(token.text), token);
    }
    probes.push(parseProbe(p));
  }
}

/** Of what a C header declares, types and constants are of use. */
function isDefinition(p: Cursor): boolean {
  return p.atWord("typedef") || definesType(p);
}

/** A function, a variable, a type that is only named: to its `;`, or behind its `{ … }`. */
function skipDeclaration(p: Cursor): void {
  let depth = 0;
  while (p.token.kind !== "end") {
    const { text } = p.advance();
    if (text === "{" || text === "(") depth++;
    if ((text === "}" || text === ")") && --depth <= 0 && text === "}") break;
    if (text === ";" && depth <= 0) break;
  }
}

function macroDefinition(p: Cursor): void {
  p.advance();
  const name = p.expectName("the macro's name");
  if (p.accept("(")) {
    while (!p.at(")")) {
      if (p.token.kind !== "variable" && p.token.kind !== "map" && p.token.kind !== "identifier") {
        p.fail(syntax.expected("a parameter (`$variable`, `@map` or `expression`)", p.describe()));
      }
      p.advance();
      if (!p.accept(",")) break;
    }
    p.expect(")", "after the macro's parameters");
  }
  const macro = p.at("{") ? macroAt(p, p.token.start) : undefined;
  if (macro === undefined) {
    p.fail(syntax.expected(`\`{\` after \`macro ${name.text}\``, p.describe()));
  }
  const { parameters } = macro;
  const earlier = p.macros
    .get(macro.name)!
    .some(
      (other) =>
        other.body < macro.body &&
        other.parameters.length === parameters.length &&
        other.parameters.every(({ kind }, i) => kind === parameters[i].kind),
    );
  if (earlier) p.report("error", name, macros.redefinition(macro.name));
  const twice = parameters.find(
    (one, i) => parameters.findIndex((other) => other.kind === one.kind && other.name === one.name) < i,
  );
  if (twice !== undefined) p.report("error", name, macros.sameParameter(macro.name, twice.name));
  checkDefinition(p, macro);
}

/** Goes on behind a top-level item that failed: after its last `}`, or where a line starts another item. */
function recover(p: Cursor, start: number): void {
  if (p.token.start === start) p.advance();
  let depth = 0;
  while (p.token.kind !== "end") {
    if (depth === 0 && p.lineEnds() && startsItem(p)) return;
    if (p.at("{")) {
      depth++;
    } else if (p.at("}")) {
      p.advance();
      if (--depth <= 0) return;
      continue;
    }
    p.advance();
  }
}

function startsItem(p: Cursor): boolean {
  return (
    startsProbe(p) || (p.token.kind === "identifier" && /^(struct|union|enum|macro|fn|config)$/.test(p.token.text))
  );
}

// The way back: from the tree, whichever language it was written in, to a program in TypeScript that traces the same. What the tree
// says and a handler cannot is refused where it stands, never left out.
import { builtinsFor, findBuiltin } from "../builtins/table.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import { typeNameText } from "../print-tree.ts";
import type {
  BinaryOperator, Block, Call, Expression, FunctionDeclaration, MapAccess, Probe, ProbeSpec, Program, Statement,
  TypeName, Variable,
} from "../program.ts";
import { unknownType } from "../types.ts";
import { casts, specialNames } from "./specials.ts";
import { integerText, TypeWriter } from "./types-from-tree.ts";
import { integer, text } from "./unit.ts";

export interface TypeScriptProgram {
  readonly text: string;
  /** What cannot be said in TypeScript. The text is of no use if there are any. */
  readonly diagnostics: readonly Diagnostic[];
}

export function typescriptOf(program: Program): TypeScriptProgram {
  const writer = new Writer(program);
  const text = writer.program();
  return { text, diagnostics: writer.diagnostics };
}

/** Binding strengths, as JavaScript has them. C's are the same for what the two share. */
const strength: Readonly<Record<BinaryOperator, number>> = {
  "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7, "<": 8, "<=": 8, ">": 8, ">=": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
};
const conditionalStrength = 1;
const unaryStrength = 13;
const memberStrength = 15;

interface Written { readonly text: string; readonly strength: number }

/** Builtins with words for arguments: strings here. */
const worded: ReadonlySet<string> = new Set(["pid", "tid", "nsecs", "kstack", "ustack", "dw_ustack"]);
/** Builtins whose first argument may be a map as a whole, beyond what are methods of maps here. */
const ofMaps: ReadonlySet<string> = new Set(["print"]);

/** A constructor of the library: what stands before the handler, and whether the handler is given the arguments. */
interface Constructor { readonly name: string; readonly args: boolean; readonly words: (parts: readonly string[]) => readonly (string | number)[] | undefined }

const joined = (parts: readonly string[]): string[] | undefined => (parts.length > 0 ? [parts.join(":")] : undefined);
const ofBinary = ([binary, ...rest]: readonly string[]): string[] | undefined => (rest.length > 0 ? [binary, rest.join(":")] : undefined);
const rate = ([unit, count]: readonly string[]): string[] | undefined => (/^\d+$/.test(count ?? "") && /^(hz|s|ms|us)$/.test(unit) ? [count + unit] : undefined);
const counted = ([event, count]: readonly string[]): (string | number)[] | undefined => (/^\d+$/.test(count ?? "") ? [event, Number(count)] : undefined);
const alone = (parts: readonly string[]): string[] | undefined => (parts.length === 0 ? [] : undefined);

/** By the provider's name. What is none of them is a `probe("…")`. */
const constructors: Readonly<Record<string, Constructor>> = {
  tracepoint: { name: "tracepoint", args: true, words: joined },
  rawtracepoint: { name: "rawTracepoint", args: true, words: joined },
  kprobe: { name: "kprobe", args: true, words: joined },
  kretprobe: { name: "kretprobe", args: false, words: joined },
  fentry: { name: "fentry", args: true, words: joined },
  fexit: { name: "fexit", args: true, words: joined },
  uprobe: { name: "uprobe", args: true, words: ofBinary },
  uretprobe: { name: "uretprobe", args: false, words: ofBinary },
  usdt: { name: "usdt", args: true, words: ofBinary },
  profile: { name: "profile", args: false, words: rate },
  interval: { name: "interval", args: false, words: rate },
  software: { name: "software", args: false, words: counted },
  hardware: { name: "hardware", args: false, words: counted },
  begin: { name: "begin", args: false, words: alone },
  end: { name: "end", args: false, words: alone },
  iter: { name: "iter", args: false, words: joined },
};

const reserved = ("abstract arguments await break case catch class const continue debugger default delete do else enum eval export extends false "
  + "finally for function if implements import in instanceof interface let new null package private protected public return static super switch "
  + "this throw true try typeof var void while with yield undefined NaN Infinity console process Number BigInt Boolean Math Date JSON Object Array "
  + "Map Set Promise Symbol RegExp Error globalThis Buffer fetch require args retval map trace probe tracepoint event emit withCaptures").split(" ");

class Writer {
  readonly diagnostics: Diagnostic[] = [];
  readonly #program: Program;
  readonly #imports = new Set<string>();
  readonly #spelling: ReadonlyMap<string, string>;
  readonly #taken: Set<string>;
  readonly #maps = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #types: TypeWriter;
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>;
  #result: TypeName | undefined;
  /** Declarations that the statement being written needs before it. */
  readonly #before: string[] = [];
  /** Variables that are declared here, in scopes. */
  #scopes: Set<string>[] = [];
  #usesArguments = false;

  constructor(program: Program) {
    this.#program = program;
    this.#functions = new Map(program.functions.map((one) => [one.name, one]));
    const names = builtinsFor("typescript");
    this.#spelling = new Map(names.names().map((name) => [names.canonical(name), name]));
    const library = [...this.#spelling.values(), ...specialNames, ...Object.keys(casts), ...Object.values(constructors).map(({ name }) => name)];
    this.#taken = new Set([...reserved, ...library]);
    this.#types = new TypeWriter({
      imported: (name) => this.#import(name), unique: (wanted) => this.#unique(wanted), operand: (value) => this.#value(value, unaryStrength),
    });
  }

  program(): string {
    const { config, functions, probes, source } = this.#program;
    const types = this.#types.declarations(this.#program);
    for (const name of mapsOf(this.#program)) this.#maps.set(name, this.#unique(name === "" ? "unnamed" : name));
    for (const { name } of functions) this.#nameOf("function", name);
    const functionTexts = functions.map((declaration) => this.#function(declaration));
    const probeTexts = probes.flatMap((one) => this.#probe(one));
    const settings = this.#settings(config);
    const mapTexts = [...this.#maps].map(([name, own]) => this.#map(name, own));
    this.#imports.add("trace");
    return `${leadingComment(source.text)}import { ${[...this.#imports].sort(byName).join(", ")} } from "strobe";\n\n`
      + `${types.join("")}${types.length > 0 ? "\n" : ""}${mapTexts.join("")}${mapTexts.length > 0 ? "\n" : ""}`
      + functionTexts.map((text) => `${text}\n`).join("")
      + `const session = await trace(\n${[...probeTexts, ...settings].map((text) => `${indented(text)},\n`).join("")});\n`
      + "for (const signal of [\"SIGINT\", \"SIGTERM\"]) process.once(signal, () => session.stop());\n"
      + "process.exitCode = (await session.ended).exitCode;\n";
  }

  // ── declarations ──

  #map(name: string, own: string): string {
    const declared = this.#program.maps.find((one) => one.name === name);
    const options = [
      ...(own === name ? [] : [`name: ${JSON.stringify(name)}`]),
      ...(declared ? [`storage: ${JSON.stringify(declared.storage)}`] : []),
      ...(declared?.entries === undefined ? [] : [`entries: ${declared.entries}`]),
    ];
    return `const ${own} = ${this.#import("map")}(${options.length > 0 ? `{ ${options.join(", ")} }` : ""});\n`;
  }

  #function({ name, parameters, result, body }: FunctionDeclaration): string {
    this.#result = result;
    const names = parameters.map((parameter) => this.#variableName(parameter.name));
    this.#scopes = [new Set(parameters.map((parameter) => parameter.name))];
    const typed = parameters.map(({ type }, i) => `${names[i]}: ${this.#parameterType(type)}`);
    const text = `function ${this.#nameOf("function", name)}(${typed.join(", ")}) ${this.#block(body)}\n`;
    this.#result = undefined;
    return text;
  }

  #parameterType(type: TypeName | undefined): string {
    const short = type && castOf(type);
    if (short !== undefined) return "number";
    return type?.name === "string" ? "string" : "any";
  }

  #probe({ specs, predicate, body }: Probe): string[] {
    const write = (inside: () => string): { readonly text: string; readonly parameter: string } => {
      this.#usesArguments = false;
      this.#scopes = [new Set()];
      const text = inside();
      return { text, parameter: this.#usesArguments ? "args" : "" };
    };
    const filter = predicate && write(() => this.#condition(predicate));
    const handler = write(() => this.#block(body));
    const arrow = `(${handler.parameter}) => ${handler.text}`;
    const both = filter ? `{\n  filter: (${filter.parameter}) => ${filter.text},\n${indented(`handler: ${arrow}`)},\n}` : arrow;
    const given = (filter?.parameter ?? "") + handler.parameter !== "";
    if (specs.length === 1) return [`${this.#constructed(specs[0], given)}${both})`];
    return [`${this.#import("probe")}([${specs.map((spec) => JSON.stringify(specText(spec))).join(", ")}], ${both})`];
  }

  /** The constructor's call, as far as the handler. */
  #constructed(spec: ProbeSpec, given: boolean): string {
    const known = Object.hasOwn(constructors, spec.provider) ? constructors[spec.provider] : undefined;
    const words = known && (known.args || !given) ? known.words(spec.parts) : undefined;
    if (known === undefined || words === undefined) return `${this.#import("probe")}(${JSON.stringify(specText(spec))}, `;
    return `${this.#import(known.name)}(${words.map((word) => `${JSON.stringify(word)}, `).join("")}`;
  }

  /** The options of the trace: what the script sets, and what its language does by itself. */
  #settings(config: Program["config"]): string[] {
    const given = new Map(config.map(({ name, value }) => [name.toLowerCase().replace(/^(bpftrace|strobe)_/, ""), value]));
    const prints = given.get("print_maps_on_exit") ?? String(this.#program.dialect.printMapsAtExit);
    given.delete("print_maps_on_exit");
    if ((prints === "true" || prints === "1") && this.#maps.size > 0) given.set("print_maps_on_exit", "true");
    const entries = [...given].map(([name, value]) => {
      const spelled = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return `${spelled}: ${/^(\d+|true|false)$/.test(value) ? value : JSON.stringify(value)}`;
    });
    return entries.length === 0 ? [] : [`{ settings: { ${entries.join(", ")} } }`];
  }

  // ── statements ──

  #block({ statements }: Block): string {
    this.#scopes.push(new Set());
    const lines = this.#statements(statements).map((line) => `${indented(line)}\n`);
    this.#scopes.pop();
    return lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
  }

  #statements(statements: readonly Statement[]): string[] {
    return statements.flatMap((statement) => {
      const around = this.#before.splice(0);
      const text = this.#statement(statement);
      return [...this.#before.splice(0, this.#before.length, ...around), text];
    });
  }

  #statement(s: Statement): string {
    switch (s.kind) {
      case "block": return this.#block(s);
      case "expression": return s.discard === true ? `const ${this.#unique("unused")} = ${this.#value(s.expression)};` : `${this.#effect(s.expression)};`;
      case "declare": return this.#declaration(s);
      case "assign": return `${this.#assignment(s)};`;
      case "aggregate": {
        const args = [...(s.value ? [s.value] : []), ...s.parameters].map((one) => this.#value(one));
        return `${this.#entry(s.target)}.${s.aggregate}(${args.join(", ")});`;
      }
      case "if": {
        const otherwise = s.otherwise && s.otherwise.statements.length === 1 && s.otherwise.statements[0].kind === "if"
          ? this.#statement(s.otherwise.statements[0]) : s.otherwise && this.#block(s.otherwise);
        return `if (${this.#condition(s.condition)}) ${this.#block(s.then)}${otherwise === undefined ? "" : ` else ${otherwise}`}`;
      }
      case "while": return `while (${this.#condition(s.condition)}) ${this.#block(s.body)}`;
      case "unroll": return `for (const ${this.#unique("turn")} of ${this.#import("range")}(${this.#value(s.count)})) ${this.#block(s.body)}`;
      case "for-range": {
        const bounds = s.from.kind === "integer" && s.from.value === 0n ? [s.to] : [s.from, s.to];
        const over = `${this.#import("range")}(${bounds.map((one) => this.#value(one)).join(", ")})`;
        return this.#loop(s.variable, over, s.body);
      }
      case "for-map": {
        if (s.order?.by === "value" && s.order.descending && s.limit) return this.#loop(s.variable, `${this.#mapName(s.map)}.top(${this.#value(s.limit)})`, s.body);
        if (s.order || s.limit) this.#refuse(s.span, "a loop over a map in an order, or with a limit, cannot be written in TypeScript", "sort in Node: the map is there as it is now");
        return this.#loop(s.variable, this.#mapName(s.map), s.body);
      }
      case "break":
      case "continue": return `${s.kind};`;
      case "return": return !s.value ? "return;" : `return ${this.#result === undefined ? this.#value(s.value) : this.#converted(this.#result, s.value)};`;
    }
  }

  #declaration({ variable, declared, value }: Extract<Statement, { kind: "declare" }>): string {
    const typed = declared === undefined ? value && this.#value(value) : this.#converted(declared, value ?? nothingOf(declared));
    this.#scopes.at(-1)?.add(variable.name);
    return `let ${this.#variableName(variable.name)}${typed === undefined ? "" : ` = ${typed}`};`;
  }

  #assignment({ target, operator, value }: Extract<Statement, { kind: "assign" }>): string {
    if (target.kind === "map") {
      if (operator !== null) return `${this.#entryValue(target)} ${operator}= ${this.#value(value)}`;
      return `${this.#mapName(target)}.set(${[...target.keys, value].map((one) => this.#value(one)).join(", ")})`;
    }
    const name = this.#variableName(target.name);
    if (operator !== null) return `${name} ${operator}= ${this.#value(value)}`;
    const known = this.#scopes.some((scope) => scope.has(target.name));
    const text = this.#value(value);
    this.#scopes.at(-1)?.add(target.name);
    return known ? `${name} = ${text}` : `let ${name} = ${text}`;
  }

  #loop({ name }: Variable, over: string, body: Block): string {
    this.#scopes.push(new Set([name]));
    const text = `for (const ${this.#variableName(name)} of ${over}) ${this.#block(body)}`;
    this.#scopes.pop();
    return text;
  }

  // ── expressions ──

  /** An expression for what it does. */
  #effect(e: Expression): string {
    // Bare words that act are calls here: exit.
    if (e.kind === "builtin" && findBuiltin(e.name)?.statement === true) return `${this.#builtin(e.name)}()`;
    return e.kind === "binary" && (e.operator === "&&" || e.operator === "||") ? this.#condition(e) : this.#value(e);
  }

  /** A value that becomes one of a type, where other languages convert by themselves. */
  #converted(type: TypeName, value: Expression): string {
    const given = (type.tag === undefined && type.name === "void" && type.pointers === 0) || (value.kind === "boolean" && type.name === "bool")
      || (value.kind === "cast" && type.of === undefined && typeNameText(value.to) === typeNameText(type));
    return given ? this.#value(value) : this.#cast(type, value);
  }

  /** Where only true or false matters: `&&` and `||` are those of other languages there. */
  #condition(e: Expression, least = 0): string {
    if (e.kind === "binary" && (e.operator === "&&" || e.operator === "||")) {
      const own = strength[e.operator];
      return parenthesized({ text: `${this.#condition(e.left, own)} ${e.operator} ${this.#condition(e.right, own + 1)}`, strength: own }, least);
    }
    if (e.kind === "unary" && e.operator === "!") return `!${this.#condition(e.operand, unaryStrength)}`;
    return this.#value(e, least);
  }

  #value(e: Expression, least = 0): string {
    return parenthesized(this.#written(e), least);
  }

  #written(e: Expression): Written {
    const whole = (text: string): Written => ({ text, strength: memberStrength });
    switch (e.kind) {
      case "integer": return { text: integerText(e.value), strength: e.value < 0n ? unaryStrength : memberStrength };
      case "string": return whole(JSON.stringify(e.value));
      case "boolean": return whole(String(e.value));
      case "identifier": return whole(this.#types.constant(e.name) ?? `${this.#import("enums")}.${e.name}`);
      case "builtin": return whole(this.#builtin(e.name));
      case "variable": return whole(this.#variableName(e.name));
      case "map": return whole(this.#entryValue(e));
      case "unary": return this.#unary(e);
      case "binary": return this.#binary(e);
      case "conditional": return {
        text: `${this.#condition(e.condition, conditionalStrength + 1)} ? ${this.#value(e.then, conditionalStrength)} : ${this.#value(e.otherwise, conditionalStrength)}`,
        strength: conditionalStrength,
      };
      case "increment": {
        const target = e.target.kind === "map" ? this.#entryValue(e.target) : this.#variableName(e.target.name);
        const sign = e.delta > 0 ? "++" : "--";
        return { text: e.prefix ? sign + target : target + sign, strength: unaryStrength };
      }
      case "call": return whole(this.#call(e));
      case "member": return whole(`${this.#value(e.object, memberStrength)}.${e.name}`);
      case "index": return whole(`${this.#value(e.object, memberStrength)}[${this.#value(e.index)}]`);
      case "tuple-index": return whole(`${this.#value(e.object, memberStrength)}[${e.index}]`);
      case "cast": return whole(this.#cast(e.to, e.operand));
      case "sizeof": return whole(`${this.#import("sizeof")}(${this.#typeOrValue(e.of)})`);
      case "offsetof": return whole(`${this.#import("offsetof")}(${this.#typeOrValue(e.of)}, ${JSON.stringify(e.path.join("."))})`);
      case "tuple": return whole(`[${e.elements.map((one) => this.#value(one)).join(", ")}]`);
      case "record": return whole(`{ ${e.fields.map(({ name, value }) => this.#field(name, this.#value(value))).join(", ")} }`);
      case "block-expression": return whole(this.#blockValue(e));
    }
  }

  /** A function that is called where it stands. */
  #blockValue({ statements, value }: Extract<Expression, { kind: "block-expression" }>): string {
    this.#scopes.push(new Set());
    const result = this.#result;
    this.#result = undefined;
    const lines = [...this.#statements(statements), `return ${this.#value(value)};`];
    this.#result = result;
    this.#scopes.pop();
    return `(() => {\n${lines.map((line) => `${indented(line)}\n`).join("")}})()`;
  }

  #typeOrValue(of: TypeName | Expression): string {
    if ("pointers" in of) return this.#types.text(of);
    return of.kind === "string" || of.kind === "map" ? `typeof ${this.#value(of, unaryStrength)}` : this.#value(of);
  }

  #field(name: string, value: string): string {
    return name === value ? name : `${name}: ${value}`;
  }

  #unary({ operator, operand }: Extract<Expression, { kind: "unary" }>): Written {
    switch (operator) {
      case "*": return { text: `${this.#import("deref")}(${this.#value(operand)})`, strength: memberStrength };
      case "&": return { text: `${this.#import("addressOf")}(${operand.kind === "map" ? this.#entry(operand) : this.#value(operand)})`, strength: memberStrength };
      case "!": return { text: `!${this.#condition(operand, unaryStrength)}`, strength: unaryStrength };
      case "-":
      case "+":
      case "~": {
        const text = this.#value(operand, unaryStrength);
        return { text: text.startsWith(operator) ? `${operator}(${text})` : operator + text, strength: unaryStrength };
      }
    }
  }

  #binary(e: Extract<Expression, { kind: "binary" }>): Written {
    const { operator, left, right } = e;
    // As a value, either is true or false, and never one of its sides.
    if (operator === "&&" || operator === "||") {
      return { text: `${this.#condition(e, conditionalStrength + 1)} ? true : false`, strength: conditionalStrength };
    }
    const own = strength[operator];
    const spelled = operator === "==" ? "===" : operator === "!=" ? "!==" : operator;
    return { text: `${this.#value(left, own)} ${spelled} ${this.#value(right, own + 1)}`, strength: own };
  }

  #builtin(name: string): string {
    if (name === "args") {
      this.#usesArguments = true;
      return "args";
    }
    const argument = /^arg(\d+)$/.exec(name);
    if (argument) {
      this.#usesArguments = true;
      return `args[${argument[1]}]`;
    }
    return this.#import(this.#spelling.get(name) ?? name);
  }

  #call({ name, args, span }: Call): string {
    const [first, ...rest] = args;
    // What is known before the script runs is so in any case.
    if (name === "comptime") return this.#value(first, memberStrength);
    const own = this.#names.get(`function ${name}`);
    if (own !== undefined) {
      const { parameters } = this.#functions.get(name)!;
      return `${own}(${args.map((one, i) => { const type = parameters[i]?.type; return type ? this.#converted(type, one) : this.#value(one); }).join(", ")})`;
    }
    if (first?.kind === "map") {
      const keys = (): string => [...first.keys, ...(rest.length === 1 && rest[0].kind === "tuple" ? rest[0].elements : rest)].map((one) => this.#value(one)).join(", ");
      if (name === "clear" || name === "zero") return `${this.#mapName(first)}.${name}()`;
      if (name === "len") return `${this.#mapName(first)}.size`;
      if (name === "delete") return `${this.#mapName(first)}.delete(${keys()})`;
      if (name === "find") return this.#find(first, args);
      if (name === "has_key") return `${this.#mapName(first)}.has(${keys()})`;
    }
    if (!findBuiltin(name)) this.#refuse(span, `${name}() cannot be written in TypeScript`);
    const texts = args.map((arg, i) => {
      if (arg.kind === "map" && i === 0 && ofMaps.has(name)) return arg.keys.length === 0 ? this.#mapName(arg) : this.#entry(arg);
      if (name === "container_of" && arg.kind === "identifier" && i === 1) return this.#types.struct(arg.name) ?? JSON.stringify(arg.name);
      if ((arg.kind === "identifier" || arg.kind === "builtin") && (worded.has(name) || (name === "container_of" && i === 2))) return JSON.stringify(arg.name);
      return this.#value(arg);
    });
    return `${this.#import(name === "print" ? "print" : this.#spelling.get(name) ?? name)}(${texts.join(", ")})`;
  }

  /** Looks an entry up, and keeps its value if there was one. */
  #find(map: MapAccess, [, key, variable]: readonly Expression[]): string {
    if (variable?.kind !== "variable") return this.#value(variable);
    const own = this.#variableName(variable.name);
    if (!this.#scopes.some((scope) => scope.has(variable.name))) {
      this.#before.push(`let ${own};`);
      this.#scopes.at(-1)?.add(variable.name);
    }
    const keys = (key.kind === "tuple" ? key.elements : [key]).map((one) => this.#value(one)).join(", ");
    const found = this.#unique("found");
    return `(() => {\n  const ${found} = ${this.#mapName(map)}.get(${keys});\n  if (${found} !== undefined) ${own} = ${found};\n  return ${found} !== undefined;\n})()`;
  }

  #cast(to: TypeName, operand: Expression): string {
    const short = castOf(to);
    if (short !== undefined) return `${this.#import(short)}(${this.#value(operand)})`;
    // A struct as a whole can only become what it is.
    if ((to.tag === "struct" || to.tag === "union") && to.pointers === 0 && to.dimensions.length === 0) return this.#value(operand);
    return `${this.#import("cast")}(${this.#value(operand)}, ${this.#types.text(to, true)})`;
  }

  #entry(map: MapAccess): string {
    const name = this.#mapName(map);
    return map.keys.length === 0 ? name : `${name}.at(${map.keys.map((one) => this.#value(one)).join(", ")})`;
  }

  #entryValue(map: MapAccess): string {
    return `${this.#entry(map)}.value`;
  }

  // ── names ──

  #mapName({ name }: MapAccess): string {
    return this.#maps.get(name) ?? name;
  }

  #variableName(name: string): string {
    return this.#nameOf("variable", name);
  }

  #nameOf(kind: "variable" | "function" | "constant", name: string): string {
    const key = `${kind} ${name}`;
    let own = this.#names.get(key);
    if (own === undefined) this.#names.set(key, own = this.#unique(name));
    return own;
  }

  #unique(wanted: string): string {
    const base = wanted.replace(/\W/g, "_").replace(/^(?=\d)/, "_");
    let name = base;
    for (let n = 2; this.#taken.has(name); n++) name = `${base}${n}`;
    this.#taken.add(name);
    return name;
  }

  #import(name: string): string {
    this.#imports.add(name);
    return name;
  }

  #refuse(span: Span, message: string, help?: string): void {
    this.diagnostics.push({ severity: "error", code: "feature", span, message, ...(help === undefined ? {} : { help }) });
  }
}

function parenthesized({ text, strength: own }: Written, least: number): string {
  return own < least ? `(${text})` : text;
}

/** What a variable of a type holds at first. */
function nothingOf(type: TypeName): Expression {
  return type.name === "string" && type.pointers === 0 ? text("", type.span) : type.name === "bool" && type.pointers === 0
    ? { kind: "boolean", value: false, span: type.span, type: unknownType } : integer(0n, type.span);
}

function castOf(type: TypeName): string | undefined {
  if (type.pointers > 0 || type.dimensions.length > 0 || type.tag !== undefined) return undefined;
  return Object.entries(casts).find(([, name]) => name === type.name)?.[0];
}

function specText({ provider, parts }: ProbeSpec): string {
  return [provider, ...parts].join(":");
}

/** The comment at a script's top: what it is for. */
function leadingComment(text: string): string {
  return /^(?:#!.*\n)?((?:\/\/.*\n)+)/.exec(text)?.[1] ?? "";
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

function byName(a: string, b: string): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : 0;
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

// One handler or function while it is translated: what names mean in it, and what has to be done before the statement
// that is being read.
import type { Message } from "../../messages/message.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import type { Given } from "../language.ts";
import type { Expression, Statement } from "../program.ts";
import type { FunctionTypes, Scope } from "./declared.ts";
import type { Types } from "./infer.ts";
import type { CallingUnit, Text } from "./library/function.ts";
import { exit, leave, type Exits } from "./leaving.ts";
import type { Place } from "./place.ts";
import type { StacksAs } from "./stacks-as-texts.ts";
import type { Expr, Stmt } from "./syntax.ts";
import * as tree from "./tree.ts";

/** What the handlers and functions of a script share. */
export class Translation {
  readonly types: Types;
  readonly given: Given;
  readonly diagnostics: Diagnostic[] = [];
  /** A script that fails ends: there are handlers for that. */
  fails = false;
  /** There are begin probes behind others. */
  beginsAgain = false;
  /** One of them ends the script. */
  leavesBegin = false;
  /** Functions that ask for the probe (of-probe.ts). */
  ofProbe: ReadonlySet<FunctionTypes> = new Set();
  /** What is done with stacks wants their texts (stacks-as-texts.ts). */
  stacks: StacksAs = "kept";
  #names = 0;

  constructor(types: Types, given: Given) {
    this.types = types;
    this.given = given;
  }

  /** A name that no script has. */
  name(of: string): string {
    return `${of}#${++this.#names}`;
  }

  report({ start, end }: Span, message: Message): void {
    if (this.diagnostics.some((one) => one.span.start === start && one.message === message.message)) return;
    this.diagnostics.push({ severity: "error", span: { start, end }, ...message });
  }
}

/** What values.ts has. */
export interface Reading {
  readonly value: (e: Expr, unit: Unit) => Expression;
  readonly storage: (e: Expr, unit: Unit) => Expression;
}

export class Unit implements CallingUnit {
  readonly shared: Translation;
  readonly scope: Scope;
  readonly where: Place;
  /** An expression as a value of the tree (values.ts). */
  readonly value: (e: Expr) => Expression;
  /** A variable or a map. */
  readonly storage: (e: Expr) => Expression;
  /** Of the statement that is being translated. */
  before: Statement[] = [];
  /** Texts of prologues, which are put together where they are used: what each stands for. */
  readonly texts: ReadonlyMap<string, Expr>;
  /** Of a handler; a function has none. */
  readonly exits: Exits | undefined;
  /** What a `.return` probe has of the function's entry, by how it is written. */
  readonly entries = new Map<
    string,
    { readonly name: string; readonly value: (unit: Unit) => Expression; readonly span: Span }
  >();

  /** Values whose types are being looked for. */
  readonly typing = new Set<Expr>();

  /** Functions that it calls and that ask for its probe, and those that they call: what they are named here. */
  readonly own: Map<FunctionTypes, string>;

  /** What the handler itself does, without prologues and epilogues. */
  body: Stmt | undefined;

  #stores = false;

  constructor(
    shared: Translation,
    scope: Scope,
    where: Place,
    reading: Reading,
    texts: ReadonlyMap<string, Expr> = new Map(),
    exits?: Exits,
    own = new Map<FunctionTypes, string>(),
  ) {
    this.own = own;
    this.texts = texts;
    this.exits = exits;
    this.shared = shared;
    this.value = (e) => reading.value(e, this);
    this.storage = (e) => reading.storage(e, this);
    this.scope = scope;
    this.where = where;
  }

  /** In a `.return` probe: whether something held where the function was entered. */
  atEntry(holds: Expression): Expression {
    const { span } = holds;
    const [name, zero] = [this.shared.name("entry"), tree.integer(0, span)];
    this.entries.set(name, {
      name,
      value: () => tree.conditional(holds, tree.integer(1, span), zero, span),
      span,
    });
    return tree.binary("!=", tree.variable(name, span), zero, span);
  }

  get types(): Types {
    return this.shared.types;
  }

  /** Text is put together that is no longer printed: nothing in it has a name that is found there. */
  get stores(): boolean {
    return this.#stores;
  }

  storing<T>(make: () => T): T {
    const before = this.#stores;
    this.#stores = true;
    try {
      return make();
    } finally {
      this.#stores = before;
    }
  }

  /** Gives something to go on with. */
  refuse(span: Span, message: Message): Expression {
    this.shared.report(span, message);
    return tree.integer(0, span);
  }

  refuseArgument(span: Span): Expression {
    return this.refuse(span, systemtap.expected("the number of an argument, from 1", "another value"));
  }

  refuseFrames(span: Span): Expression {
    return this.refuse(span, systemtap.expected("a number of frames, to 126, or -1", "another value"));
  }

  refuseRegister(span: Span): Expression {
    return this.refuse(span, systemtap.expected('the name of a register, as "rdi"', "another value"));
  }

  target(span: Span): Expression {
    const { target } = this.shared.given;
    if (target === "command") return tree.toLong(tree.builtin("cpid", span));
    return tree.integer(target ?? 0, span);
  }

  /** What a function of the script is named where this one calls it. */
  nameOf(called: FunctionTypes): string {
    if (!this.shared.ofProbe.has(called)) return called.name;
    let name = this.own.get(called);
    if (name === undefined) this.own.set(called, (name = this.shared.name(called.name)));
    return name;
  }

  stack(of: Expression): Expression {
    return this.shared.stacks === "kept" ? of : tree.hostText("shownText", [this.shownStack(of)], of.span);
  }

  shownStack(of: Expression): Expression {
    return this.shared.stacks === "names" ? tree.call("stack_as", [of, tree.word("systemtap", of.span)], of.span) : of;
  }

  fresh(of: string): string {
    return this.shared.name(of);
  }

  exit(span: Span): Statement {
    return exit(this, span);
  }

  abort(span: Span): Statement {
    return leave(this, span);
  }

  point(span: Span): Expression {
    const { text, phase, label, anyProvider } = this.where;
    if (anyProvider === true)
      return tree.call("probe_part", [tree.builtin("probe", span), tree.word("mark", span)], span);
    const known = phase !== undefined || label !== undefined || this.where.variables === "none";
    return text === undefined || !known ? tree.builtin("probe", span) : tree.text(text, span);
  }

  label(span: Span): Expression {
    const { label } = this.where;
    return label === undefined
      ? this.refuse(span, systemtap.notHere("pnlabel()", "but in probes of labels"))
      : tree.text(label, span);
  }

  /** As the point names it. */
  moduleOfPoint(span: Span): Expression {
    const { text = "", module } = this.where;
    if (module !== undefined && !/[*?[]/.test(module)) return tree.text(module, span);
    if (module !== undefined)
      return tree.hostText(
        "shownText",
        [
          tree.call(
            "ksym_part",
            [tree.toLong(tree.call("reg", [tree.text("ip", span)], span)), tree.word("owner", span)],
            span,
          ),
        ],
        span,
      );
    return tree.text(text.startsWith("kernel.") ? "kernel" : "<unknown>", span);
  }

  /** What probe_type() is of those that are known. */
  kindOfProbe(span: Span): Expression {
    const { phase, space, variables, returns, text = "" } = this.where;
    if (phase !== undefined) return tree.text("begin_end", span);
    if (/^timer\.(?:s|sec|ms|msec|us|usec|ns|nsec|hz)\(/.test(text)) return tree.text("hrtimer", span);
    if (space === "user" && variables === "vars" && !returns) return tree.text("uprobe", span);
    return this.refuse(
      span,
      systemtap.notYet("`probe_type()` elsewhere than in begin, end, error and timer probes and functions of programs"),
    );
  }

  /** thread_indent(): the thread's depth, and since when. */
  indent(delta: Expression, span: Span): Text {
    const key = (): Expression => tree.builtin("tid", span);
    const depth = tree.map("thread_indent#1", [key()], span);
    const start = tree.map("thread_indent#2", [key()], span);
    const [change, level, since, now] = ["delta", "depth", "since", "now"].map((of) =>
      tree.variable(this.shared.name(of), span),
    );
    const zero = tree.integer(0, span);
    const when = (condition: Expression, then: Statement): Statement => ({
      kind: "if",
      condition,
      then: tree.block([then], span),
      span,
    });
    this.before.push(
      tree.declare(now.name, tree.toLong(tree.builtin("nsecs", span)), tree.longType(span)),
      tree.declare(change.name, delta, tree.longType(span)),
      tree.declare(level.name, depth, tree.longType(span)),
      // The first call is at 0.
      when(
        tree.not(tree.call("has_key", [tree.map("thread_indent#2", [], span), key()], span)),
        tree.assign(start, now, span),
      ),
      tree.declare(
        since.name,
        tree.binary("/", tree.binary("-", now, start, span), tree.integer(1000, span), span),
        tree.longType(span),
      ),
      // Deeper: before it is printed. Back: behind it.
      when(tree.binary(">", change, zero, span), tree.assign(level, change, span, "+")),
      when(tree.binary("<", level, zero, span), tree.assign(level, zero, span)),
      {
        kind: "if",
        condition: tree.binary(">", change, zero, span),
        then: tree.block([tree.assign(depth, level, span)], span),
        otherwise: tree.block([tree.assign(depth, tree.binary("+", level, change, span), span)], span),
        span,
      },
      when(
        tree.binary("<=", depth, zero, span),
        tree.block([forget("thread_indent#1", key(), span), forget("thread_indent#2", key(), span)], span),
      ),
    );
    const spaces = tree.text(" ".repeat(64), span);
    const indent = tree.conditional(
      tree.binary(">", level, zero, span),
      tree.binary("-", level, tree.integer(1, span), span),
      zero,
      span,
    );
    return {
      format: "%6d %s(%d):%.*s",
      args: [since, tree.builtin("comm", span), tree.toLong(tree.builtin("tid", span)), indent, spaces],
    };
  }
}

function forget(map: string, key: Expression, span: Span): Statement {
  return tree.statement(tree.call("delete", [tree.map(map, [], span), key], span));
}

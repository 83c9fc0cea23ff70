// Random statements that bpftrace has no words for (made-up-statements.ts): what fails and who sees it, C's loops,
// `switch`, assignments as values.
import { piece, type Piece } from "./random-pieces.ts";
import { Statements } from "./random-statements.ts";

/** A map that is soon full. */
export const fewKeys = "let @few = hash(3);";

export class MadeUpStatements extends Statements {
  protected madeUp = false;
  /** How many around here see what fails. */
  #tries = 0;

  protected override statement(): Piece {
    if (!this.madeUp || this.budget <= 1 || this.nesting > 1 || !this.random.chance(0.3)) return super.statement();
    this.budget--;
    switch (this.random.below(10)) {
      case 0:
      case 1:
      case 2:
        return this.attempt();
      case 3:
        return this.stepped();
      case 4:
        return this.again();
      case 5:
        return this.choose();
      case 6:
      case 7:
        return piece(this.ofStatistic());
      default:
        return piece(this.failing());
    }
  }

  /** A value of a statistic, or what comes of it. */
  protected ofStatistic(): string {
    const { random } = this;
    const entry = random.chance(0.4) ? "@stat" : `@stat_by[(${this.int(1)}) & 3]`;
    if (random.chance(0.6)) return `takes(${entry}, ${this.int(1)});`;
    const result = random.pick(["count", "sum", "min", "max", "avg"]);
    switch (random.below(4)) {
      case 0:
        return `print(taken(${entry}, "${random.pick(["hist", "variance"])}"));`;
      case 1:
        return `if (taken(${entry}, "${result}") > ${this.int(1)}) { @result_of++; }`;
      default:
        return `@result[${random.below(4)}] = taken(${entry}, "${result}");`;
    }
  }

  /** Texts in their order. */
  protected override bool(wanted: number): string {
    if (!this.madeUp || wanted <= 0 || !this.random.chance(0.1)) return super.bool(wanted);
    return `(${this.string(wanted - 1)} ${this.random.pick(["<", "<=", ">", ">="])} ${this.string(wanted - 1)})`;
  }

  protected override int(wanted: number): string {
    const target =
      this.madeUp && wanted > 1 && this.leaves === undefined && this.random.chance(0.06)
        ? this.assignable("int")
        : undefined;
    if (target === undefined) return super.int(wanted);
    const operator = this.random.pick(["", "", ', "+"', ', "-"', ', "^"']);
    return `assigned(${target}, ${super.int(wanted - 1)}${operator})`;
  }

  protected attempt(): Piece {
    const random = this.random;
    const name = random.chance(0.7) ? `$e${this.names++}` : "";
    const kind = random.chance(0.3) ? random.pick(['"division"', '"read"', '"full"', '"error"', '"key"']) : "";
    this.#tries++;
    const body = this.block();
    if (random.chance(0.8)) body.push(piece(this.failing()), piece("@went_on++;"));
    this.#tries--;
    const handler = [piece(name === "" ? "@nameless++;" : this.lookAt(name))];
    if (this.#tries > 0 && random.chance(0.3)) handler.push(piece(name === "" ? 'throw("again");' : `throw(${name});`));
    const what = [name, kind].filter((one) => one !== "").join(", ");
    return piece(`if (attempt(${what})) {`, body, "} else {", handler, "}");
  }

  protected lookAt(error: string): string {
    return this.random.pick([
      `@failed[${error}.kind] = ${error}.message;`,
      `@where[${error}.line & 7] = ${error}.column;`,
      `print(${error});`,
      `@address = ${error}.address;`,
    ]);
  }

  /** What may go wrong: of an address that nothing can be read from, it does. */
  protected failing(): string {
    const random = this.random;
    switch (random.below(this.#tries > 0 ? 7 : 3)) {
      case 0:
        return `@few[${this.key("int", 1)}] = ${this.int(1)};`;
      case 1:
        return `@few[${this.key("int", 1)}]++;`;
      case 2:
        return `@share = (${this.int(1)}) ${random.pick(["/", "%"])} ((@few[1] ^ ${random.below(2)}) & 1);`;
      case 3:
        return `if (${this.bool(1)}) { @read = *(uint64 *)((${this.int(1)}) & 4088); }`;
      case 4:
        return `if (${this.bool(1)}) { @read_text[1] = str((${this.int(1)}) & 4088); }`;
      case 5:
        return `if (${this.bool(1)}) { print(str((${this.int(1)}) & 4088)); }`;
      default:
        return `if (${this.bool(1)}) { throw(${this.string(1)}); }`;
    }
  }

  protected override leave(): string {
    if (this.madeUp && this.leaves === undefined && this.random.chance(0.15)) return "next();";
    return super.leave();
  }

  protected stepped(): Piece {
    this.scopes.push([]);
    const name = this.newVariable("int", true);
    const condition = `${name} < ${this.random.between(1, 7)}${this.random.chance(0.3) ? ` && ${this.bool(1)}` : ""}`;
    const body = this.inLoop(() => this.block());
    const more = this.random.chance(0.3) ? ", @steps++" : "";
    this.scopes.pop();
    return piece(`{ let ${name} = 0; while (step(${condition}, ${name}++${more})) {`, body, "} }");
  }

  protected again(): Piece {
    this.scopes.push([]);
    const name = this.newVariable("int", true);
    const limit = this.random.between(0, 6);
    const body = this.inLoop(() => this.block());
    this.scopes.pop();
    return piece(`{ let ${name} = 0; while (again(${name}++ < ${limit})) {`, body, "} }");
  }

  protected choose(): Piece {
    const random = this.random;
    const of = random.chance(0.8) ? `(${this.int(1)}) & 7` : this.string(1);
    const isText = !of.startsWith("(") || !of.endsWith("& 7");
    const otherwise = random.chance(0.5) ? random.below(4) : -1;
    const cases = Array.from({ length: random.between(1, 5) }, (_, i): (string | Piece[])[] => {
      const value = (): string => (isText ? random.pick(['"a"', '"ab"', '""']) : String(random.between(0, 7)));
      const body = [this.small(), ...(random.chance(0.6) ? [piece("break;")] : [])];
      const head = i === otherwise ? "otherwise()" : `of(${random.chance(0.3) ? `${value()}, ` : ""}${value()})`;
      return [`if (${head}) {`, body, "}"];
    });
    return piece(`if (choose($of${this.names++}, ${of})) {`, ...cases.flat(), "}");
  }
}

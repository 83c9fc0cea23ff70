// Source lines as places that a probe may be at: the first statement of a line in every copy of the code around it.
import { TAG } from "./constants.ts";
import { exactAddress } from "./cursor.ts";
import type { FoundLines, LinePlace, LineRange, SourceFile, WantedLines } from "./facts.ts";
import type { LineTables } from "./line-tables.ts";
import { ROW, type LineHeader, type LineRows } from "./lines.ts";
import { bodyAt, keyOf, scopesAt } from "./scopes.ts";
import type { WholeUnits } from "./whole-units.ts";

export class LinePlaces {
  readonly #lines: LineTables;
  readonly #units: WholeUnits;
  readonly #functionAround: (address: number) => string | undefined;

  /** `functionAround`: the name of the function, not a copy, that an address is in. */
  constructor(lines: LineTables, units: WholeUnits, functionAround: (address: number) => string | undefined) {
    this.#lines = lines;
    this.#units = units;
    this.#functionAround = functionAround;
  }

  /** See facts.ts. */
  at(file: SourceFile, { ranges, column, most = Infinity, within }: WantedLines): FoundLines {
    const tables = this.#tablesWith(file);
    const withCode = new Set<number>();
    for (const { rows, wanted } of tables) {
      for (let row = 0; row < rows.count; row++) {
        const line = rows.lines[row];
        if (withCode.has(line) || !isStart(rows, row) || !wanted.has(rows.files[row])) continue;
        if (within === undefined || within(exactAddress(rows.addresses[row]), line)) withCode.add(line);
      }
    }
    const { chosen, moved, empty } = chosenLines(
      [...withCode].sort((a, b) => a - b),
      ranges,
    );
    interface Candidate {
      readonly address: number;
      readonly line: number;
      readonly column: number;
      readonly path: string;
    }
    const found: Candidate[] = [];
    for (const { header, rows, wanted } of tables) {
      if (found.length > most) break;
      const byLine = new Map<number, Candidate[]>();
      for (let row = 0; row < rows.count; row++) {
        const line = rows.lines[row];
        if (!chosen.has(line) || !isStart(rows, row) || !wanted.has(rows.files[row])) continue;
        if (column !== undefined && moved.length === 0 && rows.columns[row] !== column) continue;
        if (within !== undefined && !within(exactAddress(rows.addresses[row]), line)) continue;
        const candidate = {
          address: rows.addresses[row],
          line,
          column: rows.columns[row],
          path: this.#lines.path(header, rows.files[row]),
        };
        const others = byLine.get(line);
        if (others === undefined) byLine.set(line, [candidate]);
        else others.push(candidate);
      }
      for (const candidates of byLine.values()) {
        // A copy begins where its first instruction is; a line may come back to itself many times.
        const first = new Map<string, Candidate>();
        for (const candidate of candidates.sort((a, b) => a.address - b.address)) {
          const copy = candidates.length === 1 ? "" : this.#copyAt(candidate.address);
          if (!first.has(copy)) first.set(copy, candidate);
        }
        found.push(...first.values());
      }
    }
    const places = found
      .sort((a, b) => a.address - b.address)
      .map((each) => this.#place(each.path, each.line, each.column, each.address));
    return { places, moved, empty };
  }

  /** See facts.ts. */
  *all(file: SourceFile): Iterable<LinePlace> {
    const seen = new Set<string>();
    for (const { header, rows, wanted } of this.#tablesWith(file)) {
      for (let row = 0; row < rows.count; row++) {
        if (!isStart(rows, row) || !wanted.has(rows.files[row])) continue;
        const key = `${rows.lines[row]} ${rows.addresses[row]}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield this.#place(
          this.#lines.path(header, rows.files[row]),
          rows.lines[row],
          rows.columns[row],
          rows.addresses[row],
        );
      }
    }
  }

  #tablesWith(
    file: SourceFile,
  ): readonly { readonly header: LineHeader; readonly rows: LineRows; readonly wanted: ReadonlySet<number> }[] {
    const tables = [];
    for (const header of typeof file === "string" ? this.#lines.mentioning(file) : this.#lines.all) {
      const wanted = this.#lines.filesMatching(header, file);
      if (wanted.length > 0) tables.push({ header, rows: this.#lines.rows(header), wanted: new Set(wanted) });
    }
    return tables;
  }

  #place(file: string, line: number, column: number, address: number): LinePlace {
    const functionAt = (): string | undefined => this.#functionAround(address);
    return {
      file,
      line,
      column,
      address: exactAddress(address),
      get function() {
        return functionAt();
      },
    };
  }

  /** Which copy of which function an address is in. */
  #copyAt(address: number): string {
    for (const unit of this.#units.at(address)) {
      const body = bodyAt(unit, address);
      if (body === undefined) continue;
      const innermost = scopesAt(body, address).findLast(({ tag }) => tag !== TAG.lexical_block) ?? body.entry;
      return keyOf(innermost);
    }
    return `${address}`;
  }
}

/** Of lines with code, in order, those that ranges mean: a range of one line means the next where that has none. */
function chosenLines(
  withCode: readonly number[],
  ranges: readonly LineRange[],
): Pick<FoundLines, "moved" | "empty"> & { readonly chosen: ReadonlySet<number> } {
  const chosen = new Set<number>();
  const moved: { line: number; to: number }[] = [];
  const empty: FoundLines["empty"][number][] = [];
  for (const { first, last } of ranges) {
    const inside = withCode.filter((line) => line >= first && line <= last);
    for (const line of inside) chosen.add(line);
    if (inside.length > 0) continue;
    const behind = withCode.find((line) => line > last);
    const before = withCode.findLast((line) => line < first);
    if (first === last && behind !== undefined) {
      chosen.add(behind);
      moved.push({ line: first, to: behind });
    } else
      empty.push({
        first,
        last,
        ...(before === undefined ? {} : { before }),
        ...(behind === undefined ? {} : { behind }),
      });
  }
  return { chosen, moved, empty };
}

/** A row that a probe may stand at for its line. */
function isStart(rows: LineRows, row: number): boolean {
  return (rows.flags[row] & (ROW.statement | ROW.sequenceEnd)) === ROW.statement && rows.lines[row] !== 0;
}

/** Where the body begins: where the compiler says, else at the second line. */
export function prologueEnd(rows: LineRows, entry: number, high: number): number {
  let second = entry;
  for (let row = 0; row < rows.count; row++) {
    const address = rows.addresses[row];
    if (address < entry || address >= high || (rows.flags[row] & ROW.sequenceEnd) !== 0) continue;
    if ((rows.flags[row] & ROW.prologueEnd) !== 0) return address;
    if (address > entry && second === entry && rows.lines[row] !== 0) second = address;
  }
  return second;
}

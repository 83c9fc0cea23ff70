// Fields that events of several layouts have in common: of a thread, of a CPU. A block tells them once for each thread
// and each CPU, whatever layouts their events have; and once for each group, the probe's site.
import { fieldBytes, type RowField, type RowLayout } from "./layout.ts";

export type Role = "thread" | "cpu";

/** Fields of a role, one behind the other in rows of their own. */
export class RoleFields {
  readonly fields: readonly RowField[];
  /** Each field where it lies in a row of this role alone. */
  readonly own: readonly RowField[];
  readonly size: number;

  constructor({ fields }: RowLayout, role: Role) {
    // Looked at as words of 4 bytes.
    this.fields = fields.filter((field) => field.role === role && fieldBytes(field) % 4 === 0);
    let at = 0;
    this.own = this.fields.map((field) => {
      const own = { ...field, offset: at };
      at += fieldBytes(field);
      return own;
    });
    this.size = at;
  }

  /** Where the words of its own rows lie in a whole row. */
  get words(): readonly number[] {
    return this.fields.flatMap((field) =>
      Array.from({ length: fieldBytes(field) / 4 }, (_, i) => field.offset + i * 4),
    );
  }

  isLike({ fields }: RoleFields): boolean {
    return (
      fields.length === this.fields.length &&
      fields.every((field, i) => field.kind === this.fields[i].kind && fieldBytes(field) === fieldBytes(this.fields[i]))
    );
  }
}

/** What is told of all events together: fields of a role in each of the block's layouts. */
export class CommonFields {
  /** As the first layout has them. */
  readonly first: RoleFields;
  readonly #role: Role;
  readonly #layouts: readonly RowLayout[];
  readonly #of = new Map<number, RoleFields | undefined>();

  constructor(layouts: readonly RowLayout[], first: number, role: Role) {
    this.#layouts = layouts;
    this.#role = role;
    this.first = new RoleFields(layouts[first], role);
  }

  /** Undefined where rows of the layout have them in their groups. */
  of(layout: number): RoleFields | undefined {
    if (!this.#of.has(layout)) {
      const fields = new RoleFields(this.#layouts[layout], this.#role);
      this.#of.set(layout, this.first.fields.length > 0 && this.first.isLike(fields) ? fields : undefined);
    }
    return this.#of.get(layout);
  }
}

export function commonsOf(layouts: readonly RowLayout[], first: number): readonly [CommonFields, CommonFields] {
  return [new CommonFields(layouts, first, "thread"), new CommonFields(layouts, first, "cpu")];
}

/** Fields that groups of a layout have for themselves. */
export function restOf(
  layout: number,
  layouts: readonly RowLayout[],
  commons: readonly CommonFields[],
): readonly RowField[] {
  const { fields, time } = layouts[layout];
  const told = new Set(commons.flatMap((common) => common.of(layout)?.fields ?? []));
  const site = siteField(layouts[layout]);
  return fields.filter((field) => field.offset !== time && field !== site && !told.has(field));
}

export function siteField({ fields }: RowLayout): RowField | undefined {
  return fields.find((field) => field.role === "site" && fieldBytes(field) === 8);
}

export function timeField({ fields, time }: RowLayout): RowField | undefined {
  return fields.find(({ offset }) => offset === time);
}

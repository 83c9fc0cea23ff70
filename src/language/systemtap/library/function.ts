// A function of SystemTap's library: what it takes and gives, and what it asks of the handler that it is called in.
import type { Span } from "../../diagnostic.ts";
import type { HostTextName } from "../../host-texts.ts";
import type { Expression, Statement } from "../../program.ts";
import type { ValueType } from "../syntax.ts";
import * as tree from "../tree.ts";

/** Text that is put together where it is printed: a format of the tree's printf(), and its arguments. */
export interface Text {
  readonly format: string;
  readonly args: readonly Expression[];
}

/** What functions ask of the handler that they are called in. */
export interface CallingUnit {
  readonly where: { readonly returns: boolean; readonly result?: string; readonly space: "kernel" | "user" };
  target(span: Span): Expression;
  point(span: Span): Expression;
  kindOfProbe(span: Span): Expression;
  moduleOfPoint(span: Span): Expression;
  label(span: Span): Expression;
  /** A name that no script has. */
  fresh(of: string): string;
  /** exit() */
  exit(span: Span): Statement;
  abort(span: Span): Statement;
  /** A stack as a value: as it is where the script only prints it and keys have no other, else as text. */
  stack(of: Expression): Expression;
  /** The same where it is printed. */
  shownStack(of: Expression): Expression;
  indent(delta: Expression, span: Span): Text;
  refuseArgument(span: Span): Expression;
  refuseRegister(span: Span): Expression;
  refuseFrames(span: Span): Expression;
}

/** `value`, `text` or `does`: text is printed, and a value where there is one. */
export interface LibraryFunction {
  readonly parameters: readonly ValueType[];
  /** How many there must be; all unless it says. */
  readonly least?: number;
  /** Nothing where it is absent. */
  readonly result?: ValueType;
  /** It is a stack. */
  readonly stack?: true;
  /** It asks what only the probe has. */
  readonly ofProbe?: true;
  readonly doc: string;
  /** The kernel's struct that its result points to. */
  readonly pointsTo?: string;
  readonly value?: (args: readonly Expression[], span: Span, unit: CallingUnit) => Expression;
  readonly text?: (args: readonly Expression[], span: Span, unit: CallingUnit) => Text;
  readonly does?: (args: readonly Expression[], span: Span, unit: CallingUnit) => readonly Statement[];
}

/** A builtin value as a number. */
export const number = (name: string, doc: string): LibraryFunction => ({
  parameters: [],
  result: "long",
  doc,
  value: (_, span) => tree.toLong(tree.builtin(name, span)),
});

export const words = (name: string, doc: string): LibraryFunction => ({
  parameters: [],
  result: "string",
  doc,
  value: (_, span) => tree.builtin(name, span),
});

/** What the host does: handlers of events that use it are captured. */
export const computed = (
  name: HostTextName,
  parameters: readonly ValueType[],
  result: ValueType,
  doc: string,
): LibraryFunction => ({
  parameters,
  result,
  doc,
  value: (args, span) => tree.hostText(name, args, span),
});

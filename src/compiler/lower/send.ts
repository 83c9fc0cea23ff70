// Events to the host: a schema a place in the script.
import type { Span } from "../../language/diagnostic.ts";
import type { Type } from "../../language/types.ts";
import type { Source, Value } from "../ir/ir.ts";
import type { HeaderField } from "../layouts/record-header.ts";
import { idValue, plainBuiltin, probeIndex } from "./builtins.ts";
import type { EventAction } from "../plan.ts";
import { contextOf } from "./fetch.ts";
import type { FunctionState } from "./state.ts";

export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly source: () => Source;
}

/** Emits an event. A node that is lowered twice keeps its schema. */
export function send(
  f: FunctionState,
  node: { readonly span: Span },
  act: EventAction,
  fields: readonly Field[],
): void {
  // Nobody is there to be warned when a pinned iterator is read.
  if (contextOf(f)?.program.sequence !== undefined) return;
  const { header } = f.module.options;
  const sources = [
    ...header.map((field): Source => ({ kind: "value", value: headerValue(f, field), width: 8 })),
    ...fields.map(({ source }) => source()),
  ];
  let schema = f.schemas.get(node);
  if (schema === undefined) {
    const probe =
      f.handler.sites.length === 1 ? f.handler.sites[0].name : f.handler.probe.specs.map((spec) => spec.text).join(",");
    schema =
      f.module.schemas.push({
        action: act,
        fields: fields.map(({ name, type }) => ({ name, type })),
        span: node.span,
        probe,
      }) - 1;
    f.schemas.set(node, schema);
  }
  f.build.emit({ op: "emit", schema, fields: sources });
}

function headerValue(f: FunctionState, field: HeaderField): Value {
  switch (field) {
    case "time":
      return plainBuiltin(f, "nsecs-boot");
    case "cpu":
      return plainBuiltin(f, "cpu");
    case "pid":
    case "tid":
      return idValue(f, field);
    case "probe":
      return probeIndex(f);
  }
}

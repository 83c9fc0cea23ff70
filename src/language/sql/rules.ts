import { bpftraceRules } from "../bpftrace/rules.ts";
import type { Rules } from "../rules.ts";

/** Values are those of bpftrace's language; there are no variables or maps to write. */
export const sqlRules: Rules = {
  ...bpftraceRules,
  language: "sql",
  spelling: { map: (name) => name, variable: (name) => name, cast: () => undefined, builtin: (name) => name },
};

// test and bench: probes of the modes `--test` and `--bench`; in a trace they mean nothing.
import type { Provider } from "./provider.ts";
import { refused } from "./resolution.ts";

function suite(name: "test" | "bench", doc: string): Provider {
  return {
    name,
    aliases: [],
    usage: `${name}:NAME`,
    doc,
    list: () => [],
    resolve(spec) {
      if (spec.parts.length !== 1) return refused(spec, "syntax", `a ${name} needs a name`, `write \`${name}:NAME { … }\``);
      return { variants: [], diagnostics: [] };
    },
  };
}

export const test = suite("test", "A test of the script itself; left out of a trace.");
export const bench = suite("bench", "A measured piece of script; left out of a trace.");

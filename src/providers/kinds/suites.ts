// test and bench: probes of the modes `--test` and `--bench`, which run each once, or again and again. In a trace they
// mean nothing.
import { userProbes } from "../../messages/user-probes.ts";
import { enableStats, progInfo, testRun } from "../../linux/bpf/bpf.ts";
import { closeFd } from "../../linux/ffi.ts";
import type { Context } from "../../language/context.ts";
import { Attaching } from "../attaching/attachment.ts";
import type { Measured, Provider } from "../provider.ts";
import { refused, resolved } from "../resolution.ts";

/** A piece of script is run for so long, in milliseconds, and this often at least. */
const benchedFor = 100;
const fewestRuns = 100;

function suite(name: "test" | "bench", doc: string, run: (program: number) => Measured | undefined): Provider {
  return {
    name,
    aliases: [],
    inSearches: "never",
    usage: `${name}:NAME`,
    doc,
    followsProcess: true,
    inNoProcess: true,
    list: () => [],
    resolve(spec, _system, options) {
      const [own] = spec.parts;
      if (spec.parts.length !== 1 || own === "") return refused(spec, userProbes.needsName(name));
      if (options.suite?.kind !== name || options.suite.name !== own) return { variants: [], diagnostics: [] };
      const context: Context = {
        provider: name,
        program: { type: "raw_tracepoint", cookie: false },
        ...(name === "test" ? { returnsVerdict: true } : {}),
        defaultSpace: "kernel",
        stacks: true,
      };
      return resolved({ context, provider: name, sites: [{ name: `${name}:${own}`, data: null }] });
    },
    attach(request) {
      return new Attaching(request).each(() => []).done({ run: () => run(request.program) });
    },
  };
}

function once(program: number): undefined {
  testRun(program, { ctxIn: new Uint8Array(64) });
}

/** The kernel counts runs and their time while it is asked to. */
function repeatedly(program: number): Measured {
  const counting = enableStats();
  try {
    // The first run finds nothing in the processor's caches, and makes what maps do not have yet.
    once(program);
    const before = progInfo(program);
    const end = process.uptime() * 1000 + benchedFor;
    for (let runs = 0; runs < fewestRuns || process.uptime() * 1000 < end; runs++) once(program);
    const after = progInfo(program);
    const runs = after.runCount - before.runCount;
    return { runs, nanoseconds: runs === 0 ? 0 : (after.runTimeNs - before.runTimeNs) / runs };
  } finally {
    closeFd(counting);
  }
}

export const test = suite("test", "A test of the script itself, run by --test; left out of a trace.", once);
export const bench = suite("bench", "A measured piece of script, run by --bench; left out of a trace.", repeatedly);

// A kind of probe that strobe does not have, as somebody would add one: programs that begin and threads that end.
import { says } from "../../src/messages/message.ts";
import type { Context } from "../../src/language/context.ts";
import { i32 } from "../../src/language/types.ts";
import { rawTracepointOpen } from "../../src/linux/bpf/bpf.ts";
import { matches } from "../../src/machine/wildcard.ts";
import { Attaching } from "../../src/providers/attaching/attachment.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { didYouMean, missing, resolved, wrongParts } from "../../src/providers/resolution.ts";

/** What each moment is to the kernel; its second argument there is the thread's number before. */
const moments = new Map([
  ["program", { event: "sched_process_exec", args: ["before"] }],
  ["thread", { event: "sched_process_exit", args: [] }],
]);

function contextOf(args: readonly string[]): Context {
  return {
    provider: "moment",
    program: { type: "raw_tracepoint", cookie: false },
    args: args.map((name) => ({
      name,
      type: i32,
      fetch: { kind: "context", offset: 8, size: 4, signed: true },
    })),
    defaultSpace: "kernel",
    stacks: true,
  };
}

export const moment: Provider = {
  name: "moment",
  aliases: ["mo"],
  usage: "moment:(program|thread)",
  doc: "A program begins, or a thread ends.",
  declares: {
    what: "moments",
    fills: "Probes",
    *all() {
      for (const [name, { args }] of moments) yield { name: `moment:${name}`, args: contextOf(args).args! };
    },
  },
  *list(parts) {
    for (const name of moments.keys()) if (matches(parts[0] ?? "*", name)) yield { probe: `moment:${name}` };
  },
  resolve(spec, _system, options) {
    const [name] = spec.parts;
    if (spec.parts.length !== 1 || name === "") return wrongParts(spec, moment.usage);
    const known = moments.get(name);
    if (known === undefined)
      return missing(spec, options, says("name", `there is no moment \`${name}\``, didYouMean(name, moments.keys())));
    const context = contextOf(known.args);
    return resolved({ context, provider: "moment", sites: [{ name: `moment:${name}`, data: known.event }] });
  },
  attach(request) {
    return new Attaching(request).each(({ data }) => [rawTracepointOpen(data as string, request.program, 0n)]).done();
  },
};

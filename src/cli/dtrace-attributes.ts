// What `strobe dtrace -v` says of probes: how stable their names and arguments are, and the arguments' types.
import { thisMachine } from "../api/machine.ts";
import { attributesAsked, attributesOf, least, type Attributes } from "../language/d/attributes.ts";
import { tokensOf } from "../language/d/tokens.ts";
import { listProbes } from "../providers/registry.ts";

const thread = ["lwpsinfo_t *", "psinfo_t *"];
const packet = ["pktinfo_t *", "csinfo_t *", "ipinfo_t *"];
const disk = ["bufinfo_t *", "devinfo_t *", "fileinfo_t *"];

/** Of providers whose arguments D defines, by probe; under the provider's name those of all its other probes. */
const types: Readonly<Record<string, readonly string[]>> = {
  "proc:create": ["psinfo_t *"],
  "proc:exec": ["string"],
  "proc:exec-failure": ["int"],
  "proc:exit": ["int"],
  "proc:lwp-create": thread,
  "proc:signal-clear": ["int"],
  "proc:signal-discard": [...thread, "int"],
  "proc:signal-handle": ["int", "siginfo_t *", "int (*)(*) ()"],
  "proc:signal-send": [...thread, "int"],
  proc: [],
  "sched:dequeue": [...thread, "cpuinfo_t *"],
  "sched:enqueue": [...thread, "cpuinfo_t *", "int"],
  "sched:on-cpu": [],
  sched: thread,
  io: disk,
  ip: [...packet, "ifinfo_t *", "ipv4info_t *", "ipv6info_t *"],
  "tcp:state-change": ["void", "csinfo_t *", "void", "tcpsinfo_t *", "void", "tcplsinfo_t *"],
  tcp: [...packet, "tcpsinfo_t *", "tcpinfo_t *", "void"],
  udp: [...packet, "udpsinfo_t *", "udpinfo_t *"],
  "lockstat:adaptive-acquire-error": ["struct mutex *", "int"],
  "lockstat:adaptive-block": ["struct mutex *", "uint64_t"],
  "lockstat:adaptive-spin": ["struct mutex *", "uint64_t"],
  "lockstat:rw-block": ["struct rwlock *", "uint64_t", "int"],
  "lockstat:rw-spin": ["struct rwlock *", "uint64_t", "int"],
  "lockstat:spin-spin": ["spinlock_t *", "uint64_t"],
  dtrace: [],
  profile: [],
  cpc: [],
};

/** `provider:module:function:name`, as it stands behind its row of a listing. */
export function described(probe: string): string {
  return shown(probe, attributesOf(probe));
}

/** A program's descriptions and clauses; with `probes` each description as well, and the arguments of a probe that it means. */
export function describedProgram(
  title: string,
  clauses: readonly { readonly text: string; readonly descriptions: ReadonlyMap<string, string> }[],
  probes: boolean,
): string {
  const descriptions = new Map(clauses.flatMap((one) => [...one.descriptions]));
  const names = [...descriptions.keys()];
  const ofProbes = names.map((name) => attributesOf(name).probe);
  const ofClauses = clauses.map(({ text, descriptions: own }) =>
    attributesAsked(tokensOf(text), [...own.keys()].map((name) => attributesOf(name).args).reduce(least)),
  );
  const head = [
    "",
    `Stability attributes for ${title}:`,
    "",
    ...table("Minimum Probe Description Attributes", ofProbes.reduce(least)),
    "",
    ...table("Minimum Statement Attributes", ofClauses.reduce(least)),
    "",
    "",
  ].join("\n");
  if (!probes) return head;
  const each = [...descriptions].map(([written, probe]) => {
    const parts = written.split(":");
    const whole = [...Array.from({ length: 4 - parts.length }, () => ""), ...parts].join(":");
    return `${whole}\n${shown(probe, attributesOf(written))}`;
  });
  return `${head}${each.join("\n")}`;
}

function shown(name: string, of: ReturnType<typeof attributesOf>): string {
  const [provider = "", module = "", func = "", probe = ""] = name.split(":");
  const known = types[`${provider}:${probe}`] ?? types[provider] ?? kernelTypes(provider, module, func, probe);
  const args =
    known === undefined
      ? ["\t\tUnknown"]
      : known.length === 0
        ? ["\t\tNone"]
        : known.map((type, at) => `\t\targs[${at}]: ${type}`);
  return [
    "",
    ...table("Probe Description Attributes", of.probe),
    "",
    ...table("Argument Attributes", of.args),
    "",
    "\tArgument Types",
    ...args,
    "",
    "",
  ].join("\n");
}

function table(title: string, { names, data, dependency }: Attributes): readonly string[] {
  return [
    `\t${title}`,
    `\t\tIdentifier Names: ${names}`,
    `\t\tData Semantics:   ${data}`,
    `\t\tDependency Class: ${dependency}`,
  ];
}

/** As the kernel describes its own events; undefined where nothing tells. */
function kernelTypes(provider: string, module: string, of: string, name: string): readonly string[] | undefined {
  switch (provider) {
    case "syscall":
      // The first field is the call's number.
      return name === "return" ? ["long"] : fields(`tracepoint:syscalls:sys_enter_${of}`)?.slice(1);
    case "sdt":
      return fields(`tracepoint:${module}:${name}`);
    case "rawtp":
      return fields(`rawtracepoint:${name}`)?.map(() => "void *");
    default:
      return undefined;
  }
}

function fields(pattern: string): readonly string[] | undefined {
  const [listed] = listProbes(pattern, thisMachine(), { verbose: true });
  return listed?.details?.map((line) => {
    const [, type = "", dimension = ""] = /^\s*(.*?)\s*\w+((?:\[\d*\])?)$/.exec(line) ?? [];
    // Where the bytes are, not the bytes.
    if (type.startsWith("__data_loc ")) return "u32";
    const plain = type.replaceAll(/\bconst /g, "").trim();
    return dimension === "" ? plain : `${plain} ${dimension}`;
  });
}

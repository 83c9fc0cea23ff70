// iter: walks the kernel's objects (tasks, files, maps), once, when strobe asks for it.
import { kernelProbes } from "../../messages/kernel-probes.ts";
import { closeSync, readSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { BPF_TRACE_ITER, iterCreate, linkCreateIter, pinObject } from "../../linux/bpf/bpf.ts";
import { closeFd } from "../../linux/ffi.ts";
import type { Fetch } from "../../language/context.ts";
import type { StructType } from "../../language/types.ts";
import { Attaching } from "../attaching/attachment.ts";
import { declare } from "../../machine/kernel/declared-type.ts";
import type { Provider } from "../provider.ts";
import { didYouMean, missing, refused, resolved, wrongParts } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";

export const iterator: Provider = {
  name: "iter",
  aliases: ["it"],
  usage: "iter:OBJECT[:PIN]",
  doc: "The kernel's objects, one after the other: task, task_file, task_vma; with a pin, whenever the file is read.",
  followsProcess: true,
  inNoProcess: true,

  *list(parts, system, options) {
    for (const name of system.iterators()) {
      if (!matches(parts[0] ?? "*", name)) continue;
      const probe = `iter:${name}`;
      if (!options.verbose) yield { probe };
      else
        yield {
          probe,
          details: objects(contextStruct(name, system)).map(({ type, name: member }) => `    ${declare(type, member)}`),
        };
    }
  },

  resolve(spec, system, options) {
    const [name, pin] = spec.parts;
    if (name === undefined || name === "" || hasWildcard(name) || spec.parts.length > 2)
      return wrongParts(spec, iterator.usage);
    if (pin !== undefined && hasWildcard(pin)) return refused(spec, kernelProbes.pinOneFile());
    const struct = contextStruct(name, system);
    // The kernel makes a function of this name for each kind of iterator: programs are bound to it.
    const target = system.kernelFunction(`bpf_iter_${name}`);
    if (struct === undefined || target === undefined) {
      return missing(
        spec,
        options,
        kernelProbes.iterNotAvailableYourKernel(name, didYouMean(name, system.iterators())),
      );
    }
    const first = objects(struct)[0];
    const requires: Fetch | undefined =
      first?.type.kind === "pointer" ? { kind: "context", offset: first.offset, size: 8, signed: false } : undefined;
    return resolved({
      provider: "iter",
      context: {
        provider: "iter",
        program: {
          type: "tracing",
          load: {
            attachType: BPF_TRACE_ITER,
            btfId: target.btfId,
            ...(target.module === "vmlinux" ? {} : { module: target.module }),
          },
          ...(pin === undefined ? {} : { sequence: openFile }),
          cookie: false,
        },
        kernelTypes: true,
        pathsFromContext: true,
        contextType: { kind: "pointer", target: struct, space: "kernel" },
        ...(requires ? { requires } : {}),
        defaultSpace: "kernel",
        stacks: true,
      },
      sites: [
        pin === undefined
          ? { name: `iter:${name}`, data: null }
          : { name: spec.text, data: { pin: resolvePath(PINS, pin) } satisfies PinSite },
      ],
    });
  },

  attach(request) {
    let link = -1;
    const pinned: string[] = [];
    const attaching = new Attaching(request).each(({ data }) => {
      link = linkCreateIter(request.program);
      const pin = (data as PinSite | null)?.pin;
      if (pin !== undefined) {
        pinTo(pin, link);
        pinned.push(pin);
      }
      return [link];
    });
    return attaching.done({
      run: () => {
        if (link >= 0 && pinned.length === 0) walk(link);
      },
      notes: pinned.map((pin) => `Program pinned to ${pin}`),
    });
  },
};

/** Where pins are that are not said to be elsewhere. */
const PINS = "/sys/fs/bpf";

interface PinSite {
  readonly pin: string;
}

/** `ctx->meta->seq`: the context begins with `meta`, and that with `seq`. */
const openFile: Fetch = {
  kind: "pointed",
  base: { kind: "context", offset: 0, size: 8, signed: false },
  offset: 0,
  size: 8,
  signed: false,
  space: "typed",
};

function pinTo(pin: string, link: number): void {
  try {
    pinObject(link, pin);
  } catch (error) {
    closeFd(link);
    throw error;
  }
}

/** Reads an iterator to its end. What the programs say comes by the events' ring, not by these reads. */
function walk(link: number): void {
  const fd = iterCreate(link);
  try {
    const nothing = new Uint8Array(4096);
    while (readSync(fd, nothing) > 0) {
      /* programs write nothing to the file */
    }
  } finally {
    closeSync(fd);
  }
}

function contextStruct(name: string, system: System): StructType | undefined {
  const type = system.types.find(`bpf_iter__${name}`, "struct");
  return type?.kind === "struct" ? type : undefined;
}

/** The members but for `meta`. Pointers lie in anonymous unions that pad them to 8 bytes. */
function objects(struct: StructType | undefined): StructType["members"] {
  return (struct?.members ?? [])
    .flatMap((member) => {
      if (member.name !== "" || member.type.kind !== "struct") return [member];
      return objects(member.type).map((inner) => ({
        ...inner,
        type: inner.type,
        offset: inner.offset + member.offset,
      }));
    })
    .filter((member) => member.name !== "meta");
}

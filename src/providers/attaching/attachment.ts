// Live attachments: descriptors that detach when they are closed, and the sites that the kernel refused.
import type { SiteRef } from "../../language/resolved-probe.ts";
import { LinuxError } from "../../linux/error.ts";
import { linkCreatePerfEvent } from "../../linux/bpf/bpf.ts";
import { closeFd } from "../../linux/ffi.ts";
import { perfAttach } from "../../linux/perf/perf.ts";
import type { Attachment, AttachRequest } from "../provider.ts";
import { groupBy } from "../resolution.ts";
import { instructionReasons } from "../../messages/on-demand.ts";

/** What attaching one site, or several at once, gave: descriptors to close, or why not. */
export class Attaching {
  readonly #request: AttachRequest;
  readonly #descriptors: number[] = [];
  readonly #failed: Attachment["failed"][number][] = [];
  readonly #attached: SiteRef[] = [];

  constructor(request: AttachRequest) {
    this.#request = request;
  }

  /** One call a site. What `open` opened before it threw is its own to close. */
  each(open: (site: SiteRef, cookie: bigint) => readonly number[]): this {
    this.#request.sites.forEach((site, i) => {
      this.#tryTo([site], () => open(site, this.#request.cookies[i] ?? 0n));
    });
    return this;
  }

  /** All sites in one call; when the kernel refuses, halves of them, down to the sites that are to blame. */
  together(indices: readonly number[], open: (sites: readonly SiteRef[], cookies: readonly bigint[]) => number): this {
    const { sites, cookies } = this.#request;
    const attempt = (part: readonly number[]): void => {
      const partSites = part.map((i) => sites[i]);
      try {
        this.#descriptors.push(
          open(
            partSites,
            part.map((i) => cookies[i] ?? 0n),
          ),
        );
        for (const site of partSites) this.#attached.push(site);
      } catch (error) {
        if (!(error instanceof LinuxError)) throw error;
        // Halving helps when some site is bad, not when the kernel refuses the program or the kind of link.
        if (part.length === 1 || !isAboutSites(error)) {
          this.#fail(partSites, error);
        } else {
          const middle = part.length >> 1;
          attempt(part.slice(0, middle));
          attempt(part.slice(middle));
        }
      }
    };
    attempt(indices);
    return this;
  }

  #tryTo(sites: readonly SiteRef[], open: () => readonly number[]): void {
    try {
      this.#descriptors.push(...open());
      this.#attached.push(...sites);
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      this.#fail(sites, error);
    }
  }

  #fail(sites: readonly SiteRef[], error: LinuxError): void {
    for (const site of sites) this.#failed.push({ site, reason: error.message, ofPlace: isAboutSites(error) });
  }

  done(
    more: Pick<Attachment, "run" | "notes" | "missed" | "closed" | "watch" | "unwatch" | "executed"> = {},
  ): Attachment {
    const descriptors = this.#descriptors;
    let open = true;
    return {
      ...more,
      attached: this.#attached,
      failed: this.#failed,
      descriptors,
      [Symbol.dispose]() {
        if (!open) return;
        open = false;
        for (const fd of descriptors.toReversed()) closeFd(fd);
        more.closed?.();
      },
    };
  }
}

/** For what closes without a wait: disposing it takes less than the threads would that close what waits. */
export function closedAtOnce(attachment: Attachment): Attachment {
  return { ...attachment, descriptors: [] };
}

function isAboutSites(error: LinuxError): boolean {
  switch (error.errno) {
    case "EPERM":
    case "EACCES":
    case "EOPNOTSUPP":
    case "ENOTSUPP":
    case "EBADF":
    case "ENOMEM":
    case "ENOSPC":
    case "ENFILE":
    case "EMFILE":
      return false;
    default:
      return true;
  }
}

/** How many refused places a warning names. */
const named = 3;

/**
 * Of what wildcards took in, what the kernel refuses is left out, and said, as long as something of the wildcard is
 * left.
 */
export function withoutRefused(
  attachment: Attachment,
  sites: readonly SiteRef[],
  wildcardOf: (site: SiteRef) => string | undefined,
): Attachment {
  const failed: Attachment["failed"][number][] = [];
  const skipped: { probe: string; reason: string }[] = [];
  for (const [wildcard, refused] of groupBy(attachment.failed, ({ site, ofPlace }) =>
    ofPlace ? (wildcardOf(site) ?? "") : "",
  )) {
    const all = sites.filter((site) => wildcardOf(site) === wildcard).length;
    if (wildcard === "") failed.push(...refused);
    else if (refused.length === all)
      failed.push({ site: { ...refused[0].site, name: wildcard }, reason: refused[0].reason });
    else {
      const places = refused
        .slice(0, named)
        .map(({ site }) => site.name.replace(/^\w+:/, ""))
        .join(", ");
      const more = refused.length > named ? ` and ${refused.length - named} more` : "";
      skipped.push({
        probe: wildcard,
        reason: instructionReasons().placesRefused(refused.length, all, places, more),
      });
    }
  }
  return Object.assign(attachment, { failed, skipped });
}

/**
 * Runs a program on a perf event, which is closed when that fails. The ioctl is enough for a cookie of 0; others need a
 * link, and so does who wants to ask about it. Gives the descriptors in the order they were opened.
 */
export function attachToPerfEvent(
  program: number,
  event: number,
  cookie: bigint,
  by: "cheapest" | "link" = "cheapest",
): number[] {
  try {
    if (cookie !== 0n || by === "link") return [event, linkCreatePerfEvent(program, event, cookie)];
    perfAttach(event, program);
    return [event];
  } catch (error) {
    closeFd(event);
    throw error;
  }
}

/** Opens several events for one site: all or none. */
export function openAll(opens: readonly (() => readonly number[])[]): number[] {
  const descriptors: number[] = [];
  try {
    for (const open of opens) descriptors.push(...open());
    return descriptors;
  } catch (error) {
    for (const fd of descriptors.toReversed()) closeFd(fd);
    throw error;
  }
}

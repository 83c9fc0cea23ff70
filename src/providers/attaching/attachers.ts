// What attaches to places in code, apart from what finds them: a plan that was kept needs no more.
import { kernelAtLeast, kernelVersion } from "../../base/kernel-features.ts";
import { kernelRelease } from "../../linux/kernel/running-kernel.ts";
import { attachToKernelSites } from "./kprobe-attachment.ts";
import type { Attacher } from "../provider.ts";
import { attachToUserSites } from "./user-attachment.ts";

export const uprobes: Attacher = {
  entryCost: () => ({ traps: 1 }),
  followsCommand: true,
  lastRunsFirst: () => true,
  attach: (request) => attachToUserSites(request, false),
};
export const uretprobes: Attacher = {
  entryCost: () => ({ traps: 1.5 }),
  followsCommand: true,
  lastRunsFirst: () => true,
  attach: (request) => attachToUserSites(request, true),
};
export const kprobes: Attacher = {
  lastRunsFirst: () => true,
  attach: (request) => attachToKernelSites(request, false),
};
export const kretprobes: Attacher = {
  entryCost: () => ({ nanoseconds: 300 }),
  // A return goes back the way of the entry; but from Linux 6.14 on, links of many functions are told of it in the
  // entry's order.
  lastRunsFirst: ({ load }) => load !== undefined && kernelAtLeast(kernelVersion(kernelRelease()), 6, 14),
  attach: (request) => attachToKernelSites(request, true),
};

/** Instructions of programs and of the kernel. */
export const instructions: Attacher = {
  entryCost: ({ defaultSpace }) => (defaultSpace === "user" ? { traps: 1 } : undefined),
  followsCommand: true,
  lastRunsFirst: () => true,
  attach: (request) => (request.binding.defaultSpace === "user" ? uprobes : kprobes).attach(request),
};

// What a probe's name means in a binary, as whoever finds it tells it.
import type { Message } from "../../messages/message.ts";
import type { Surroundings } from "./inlined-ends.ts";
import type { InlinedCopy } from "../../machine/values/user-variables.ts";

export interface Place {
  /** As the probe's name says it. */
  readonly name: string;
  /** In the file. */
  readonly offset: bigint;
  /** The function that a handler is told; where absent, the one that the symbol table has there. */
  readonly func?: string;
  /** The place is a return instruction of the function that begins there in the file. */
  readonly returnsFrom?: bigint;
  /** Of a source line: which one it is, and the function with a body that it is in. */
  readonly source?: { readonly function?: string | undefined; readonly file: string; readonly line: number };
  /** A copy that was inlined into another function. */
  readonly inlined?: InlinedCopy;
  /**
   * It stands at a jump that may also go elsewhere: the condition under which what the probe means happens, as x86
   * numbers them.
   */
  readonly condition?: number;
}

/** What is wrong with a name. */
export interface Problem {
  readonly problem: Message;
  /** What is meant is there, and no probe can see it. */
  readonly unseen?: true;
}

/** Places, and what their author should know about them; or what is wrong. */
export type Places = { readonly places: readonly Place[]; readonly notes: readonly Message[] } | Problem;

export interface Wanted {
  /** As a C++ name, whatever symbols there are. */
  readonly cpp: boolean;
  /** Only the copies that were inlined. */
  readonly inlined: boolean;
  readonly returns: boolean;
  /** Debug information is left alone. */
  readonly symbolsOnly?: boolean;
  /** What the handler reads is only there for a function of its own: argument registers, the result's register. */
  readonly bodiesOnly?: string;
  /** The binary is the running kernel's. */
  readonly kernel?: () => Surroundings;
}

// Scripts in D: actions and subroutines, and what they are given, in DTrace's words and with its tags.
import { says, tagged, type Message } from "./message.ts";

export const dCalls = {
  /** @example BEGIN { x = nosuch(1); } */
  unknownFunction: (name: string, help?: string): Message =>
    tagged("D_FUNC_UNDEF", "name", `undefined function name: ${name}`, help),
  /** @example BEGIN { pid(); } */
  noFunctionOf: (kind: string, name: string): Message =>
    tagged("D_FUNC_IDKIND", "type", `${kind} '${name}' may not be referenced as a function`),
  /** @example BEGIN { 5(1); } */
  noFunction: (): Message => tagged("D_FUNC_IDENT", "type", "function designator is not of function type"),
  /** @example BEGIN { count(); } */
  aggregatingFunction: (name: string): Message =>
    tagged(
      "D_CG_EXPR",
      "placement",
      `aggregating function ${name}( ) may not be called from a D expression (D program context required)`,
    ),
  /** @example BEGIN { x = 1 ? trace(1) : 2; } */
  noValue: (name: string): Message =>
    tagged("D_ACT_SPEC", "placement", `${name}( ) may not be called from a D expression (D program context required)`),
  /** @example BEGIN { exit(); } */
  argumentCount: (name: string, given: number, wanted: string): Message =>
    tagged(
      "D_PROTO_LEN",
      "arguments",
      `${name}( ) prototype mismatch: ${given} arg${given === 1 ? "" : "s"} passed, ${wanted} expected`,
    ),
  /** @example BEGIN { exit("x"); } */
  argumentType: (name: string, number: number, prototype: string, argument: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}( ) argument #${number} is incompatible with prototype:\n\tprototype: ${prototype}\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { pcap((void *)1, 2); } */
  notYet: (what: string, help?: string): Message => says("feature", `${what} is not there yet`, help),
  /** @example BEGIN { stop(); } */
  notImplemented: (what: string): Message => tagged("D_UNKNOWN", "feature", `${what} is not implemented (yet)`),
  /** @example BEGIN { p = alloca(100000); } */
  scratch: (bytes: bigint, most: number): Message =>
    tagged(
      "D_ALLOCA_SIZE",
      "limit",
      `alloca(${bytes}) size larger than scratchsize ${most}`,
      `more is there with \`#pragma D option scratchsize=${bytes}\``,
    ),
  /** @example BEGIN { trace(link_ntop(99, 0)); } */
  hardwareType: (): Message => says("arguments", "link_ntop( ) argument #1 must be ARPHRD_ETHER or ARPHRD_INFINIBAND"),
  /** @example BEGIN { tracemem(curthread, 0); } */
  memorySize: (): Message =>
    tagged(
      "D_TRACEMEM_SIZE",
      "arguments",
      "tracemem( ) argument #2 must be a non-zero positive integral constant expression",
    ),
  /**
   * @example
   * struct s { int a; }; struct s v;
   * BEGIN { tracemem(v, 4); }
   */
  memoryAddress: (argument: string): Message =>
    tagged(
      "D_TRACEMEM_ADDR",
      "type",
      `tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer or integer\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { return(5); } */
  noReturn: (probe: string): Message => tagged("D_ACT_RETURN", "placement", `return() not allowed for ${probe}`),
  /** @example BEGIN { @a = count(); trace(@a); } */
  aggregationTraced: (): Message =>
    tagged("D_TRACE_DYN", "type", "trace( ) may not be applied to a dynamic expression"),
  /** @example BEGIN { trace((void)0); } */
  voidTraced: (name: string): Message =>
    tagged("D_TRACE_VOID", "type", `${name}( ) may not be applied to a void expression`),
  /** @example BEGIN { print((void *)5); } */
  printedVoid: (): Message =>
    tagged("D_PRINT_SIZE", "type", "print( ) argument #1 reference has type 'void' with size 0; cannot print( ) it."),
  /** @example BEGIN { stack(0); } */
  stackSize: (name: string): Message =>
    tagged(
      name === "stack" ? "D_STACK_SIZE" : "D_USTACK_FRAMES",
      "arguments",
      `${name}( ) argument #1 must be a non-zero positive integer constant`,
    ),
  /** @example BEGIN { x = 3; ustack(3, x); } */
  stackTextSize: (name: string): Message =>
    tagged("D_USTACK_STRSIZE", "arguments", `${name}( ) argument #2 must be a positive integer constant`),
} as const;

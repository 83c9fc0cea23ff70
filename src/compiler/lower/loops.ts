// Loops over numbers, and while something holds; ways out of them.
import { compiler } from "../../messages/compiler.ts";
import type { Block, Statement } from "../../language/program.ts";
import { slotOf } from "./assign.ts";
import { convert } from "./scalars.ts";
import type { FunctionState } from "./state.ts";

export function whileLoop(f: FunctionState, s: Statement & { kind: "while" }): void {
  const { build } = f;
  const [body, exit] = [build.newBlock(), build.newBlock()];
  const head = loopHead(f, s, exit);
  f.condition(s.condition, body, exit);
  build.seal(body);
  build.start(body);
  runRound(f, s.body, { next: head, exit });
  goRound(f, head, exit);
}

export function doWhileLoop(f: FunctionState, s: Statement & { kind: "do-while" }): void {
  const { build } = f;
  const [next, again, exit] = [build.newBlock(), build.newBlock(), build.newBlock()];
  const head = loopHead(f, s, exit);
  runRound(f, s.body, { next, exit });
  build.jump(next);
  build.seal(next);
  build.start(next);
  f.condition(s.condition, again, exit);
  build.seal(again);
  build.start(again);
  goRound(f, head, exit);
}

export function forLoop(f: FunctionState, s: Statement & { kind: "for" }): void {
  const { build } = f;
  for (const before of s.before) f.run(before);
  const [body, next, exit] = [build.newBlock(), build.newBlock(), build.newBlock()];
  const head = loopHead(f, s, exit);
  if (s.condition === undefined) build.jump(body);
  else f.condition(s.condition, body, exit);
  build.seal(body);
  build.start(body);
  runRound(f, s.body, { next, exit });
  build.jump(next);
  build.seal(next);
  build.start(next);
  for (const step of s.step) f.run(step);
  goRound(f, head, exit);
}

/** Where a round begins, unless the kernel's budget of rounds is spent. Goes on in the round. */
function loopHead(f: FunctionState, s: Statement, exit: number): number {
  const { build } = f;
  const head = build.newBlock();
  build.jump(head);
  build.start(head);
  const edges = build.guard();
  build.start(edges.exit);
  countCut(f, s);
  build.jump(exit);
  build.start(edges.body);
  return head;
}

/** Back to the head, and on behind the loop. */
function goRound({ build }: FunctionState, head: number, exit: number): void {
  build.jump(head);
  build.seal(head);
  build.seal(exit);
  build.start(exit);
}

/** `break` and `continue` */
export function jump(f: FunctionState, s: Statement & { kind: "break" | "continue" }): void {
  const { build } = f;
  const loop = f.loops.findLast(({ kind }) => s.kind === "break" || kind !== "switch");
  if (loop === undefined) return f.fault(s.span, "a jump outside of a loop");
  if (loop.kind === "callback") return build.return(s.kind === "break");
  build.jump(s.kind === "break" || loop.kind === "switch" ? loop.exit : loop.next);
  build.startUnreachable();
}

/** Where the kernel cuts a loop short. */
function countCut({ build, module, handler }: FunctionState, { span }: Statement): void {
  if (handler.placement === "host") return;
  // One however often it is compiled.
  const known = module.loops.findIndex(
    (loop) => loop.unkept === undefined && loop.span.start === span.start && loop.span.end === span.end,
  );
  build.emit({ op: "loop-cut", loop: known >= 0 ? known : module.loops.push({ span }) - 1 });
}

/** A loop's body: `continue` goes to the next round, `break` to the exit. */
function runRound(f: FunctionState, body: Block, to: { readonly next: number; readonly exit: number }): void {
  f.loops.push({ kind: "blocks", ...to });
  f.run(body);
  f.loops.pop();
}

/** More than the verifier should walk through one by one. */
const mostPlainRounds = 64n;

export function forRange(f: FunctionState, s: Statement & { kind: "for-range" }): void {
  const { build } = f;
  const [from, to] = [f.value(s.from), f.value(s.to)];
  const [first, end] = [build.constantOf(from), build.constantOf(to)];
  const rounds =
    first !== undefined && end !== undefined && end - first <= mostPlainRounds
      ? Math.max(0, Number(end - first))
      : undefined;
  const home = f.home(slotOf(f, s.variable));
  const counter = build.newVariable();
  const [head, body, next, exit] = [build.newBlock(), build.newBlock(), build.newBlock(), build.newBlock()];
  build.write(counter, from);
  build.jump(head);
  build.start(head);
  const edges = build.guard(rounds);
  build.start(edges.exit);
  countCut(f, s);
  build.jump(exit);
  build.start(edges.body);
  const more = build.branch(build.compare("slt", build.read(counter), to));
  build.start(more.otherwise);
  build.jump(exit);
  build.start(more.then);
  build.jump(body);
  build.seal(body);
  build.start(body);
  f.storeHome(home, convert(f, build.read(counter), { kind: "integer", bits: 64, signed: true }, home.type));
  runRound(f, s.body, { next, exit });
  build.jump(next);
  build.seal(next);
  build.start(next);
  build.write(counter, build.binary("add", build.read(counter), build.constant(1n)));
  build.jump(head);
  build.seal(head);
  build.seal(exit);
  build.start(exit);
}

/** Each round is blocks of its own, and what walks the blocks goes down them. */
const mostUnrolled = 2500;

export function unroll(f: FunctionState, s: Statement & { kind: "unroll" }): void {
  const { build } = f;
  const rounds = build.constantOf(f.value(s.count));
  if (rounds === undefined) return f.fault(s.count.span, "unroll without a constant");
  const within = f.unrolled;
  f.unrolled *= Number(rounds);
  if (f.unrolled > mostUnrolled) {
    return f.refuse(s.count.span, compiler.unrolledTooOften(f.unrolled, mostUnrolled));
  }
  const exit = build.newBlock();
  for (let i = 0n; i < rounds; i++) {
    const next = build.newBlock();
    runRound(f, s.body, { next, exit });
    build.jump(next);
    build.seal(next);
    build.start(next);
  }
  build.jump(exit);
  build.seal(exit);
  build.start(exit);
  f.unrolled = within;
}

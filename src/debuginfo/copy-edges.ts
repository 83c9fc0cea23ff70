// Where an inlined copy of a function begins and ends: the edges of the control flow that lead into it and out of it,
// and the instructions at which a probe sees each of them, and nothing else.
//
// A compiler mixes a copy's instructions with those around it, so that to leave the copy's ranges is not to leave the
// copy. What belongs to it are its own instructions behind its beginning, and whatever lies between two of them on some
// way that does not come by its beginning again. Such a piece is left once each time that it is entered, by one of its
// outgoing edges.
import { firstFrom, type CodeFlow } from "./code-flow.ts";

/** A place that control comes by on an edge. */
export interface EdgePlace {
  readonly address: bigint;
  /** The condition under which a jump there takes the edge, as x86 numbers them (the low 4 bits of the opcode). */
  readonly condition?: number;
  /** The function around it is left there for another one, which returns in its place. */
  readonly tail?: true;
}

export interface CopyEdges {
  readonly entries: readonly EdgePlace[];
  readonly exits: readonly EdgePlace[];
  /** Ways in and out that no place tells from others. */
  readonly lostEntries: number;
  readonly lostExits: number;
  /**
   * Control also comes into its code where it may or may not begin: its instructions are mixed with those around it.
   */
  readonly mixed: boolean;
}

export interface Copy {
  /** Where debug information says that it begins; absent where it only has ranges. */
  readonly entry?: bigint;
  readonly ranges: readonly { readonly low: bigint; readonly high: bigint }[];
}

/**
 * Of pieces of one call, those that go on where another leaves, and that control comes to by way of others only: which
 * one that is. `begins`: a piece whose beginning is told, which goes on from no other.
 */
export function continuations(
  flow: CodeFlow,
  pieces: readonly Copy["ranges"][],
  begins: (piece: number) => boolean,
): ReadonlyMap<number, number> {
  const owners = new Map<number, number>();
  const owns = pieces.map((ranges) => ownOf(flow, ranges));
  for (const [piece, own] of owns.entries()) for (const index of own) owners.set(index, piece);
  const heads = new Set(firstOf(flow, new Set(owners.keys())).map((index) => owners.get(index)));
  const found = new Map<number, number>();
  // Only GCC, which tells beginnings, puts instructions of nobody between the pieces of a call.
  const between = pieces.some((_, piece) => begins(piece)) ? strangers : 0;
  for (const [piece, own] of owns.entries()) {
    if (begins(piece) || heads.has(piece)) continue;
    const before = firstOf(flow, own).flatMap((start) => ownersBefore(flow, start, owners, between));
    const other = before.find((one) => one !== piece);
    if (other !== undefined) found.set(piece, other);
  }
  return found;
}

/** Whose code leads to an instruction, at once or by at most so many instructions of nobody. */
function ownersBefore(flow: CodeFlow, start: number, owners: ReadonlyMap<number, number>, most: number): number[] {
  for (let at = start, steps = 0; steps <= most; steps++) {
    const from = flow.predecessors[at];
    const found = from.flatMap((index) => owners.get(index) ?? []);
    if (found.length > 0 || from.length !== 1) return found;
    at = from[0];
  }
  return [];
}

/** Where a copy jumps to that consists of that jump alone. */
export function onlyJumpTo(flow: CodeFlow, ranges: Copy["ranges"]): bigint | undefined {
  const [jump, ...more] = [...ownOf(flow, ranges)].filter((index) => flow.predecessors[index].length > 0);
  if (jump === undefined || more.length > 0 || flow.flows[jump] !== "jump") return undefined;
  const [to] = flow.successors[jump];
  return to === undefined ? undefined : flow.addresses[to];
}

export interface PlaceChoice {
  /** Whether there can be a probe on an instruction. */
  allowed(code: Uint8Array, address: bigint): boolean;
  /** Whether the source has one position for two instructions. */
  sameStatement(one: bigint, other: bigint): boolean;
  /** Places where copies begin: what ends there should be seen before. */
  readonly beginnings: ReadonlySet<bigint>;
}

/** undefined where a copy has no code, or what is said of it contradicts the code. */
export function edgesOf(flow: CodeFlow, copy: Copy, choice: PlaceChoice): CopyEdges | undefined {
  const own = ownOf(flow, copy.ranges);
  const told = copy.entry === undefined ? undefined : flow.at(copy.entry);
  if (copy.entry !== undefined && told === undefined) return undefined;
  const beside = told === undefined ? undefined : startsBeside(flow, own, told, choice);
  const starts = new Set(
    beside === undefined ? firstOf(flow, own).map((start) => atLoop(flow, own, start)) : [told!, ...beside.certain],
  );
  if (starts.size === 0) return undefined;
  const inside = piece(flow, own, starts);
  const several = told === undefined ? starts.size > 1 : beside!.more || !leadsInto(flow, own, told);
  const mixed = several || comesAgain(flow, own, starts, inside);

  const entering: Edge[] = [];
  const leaving: Edge[] = [];
  for (const start of starts) {
    for (const from of flow.predecessors[start])
      if (!inside.has(from) || !own.has(from)) entering.push({ from, to: start });
  }
  for (const from of inside) {
    for (const to of flow.successors[from]) {
      if (flow.pads.has(to)) continue;
      // Back to its beginning from the copy's own code is a loop of the copy.
      if (starts.has(to) ? !own.has(from) : !inside.has(to)) leaving.push({ from, to });
    }
    const out = flow.leaving.get(from);
    if (out !== undefined) leaving.push({ from, to: undefined, tail: out === "jump" });
  }
  const places = new Places(flow, choice);
  const [into, outOf] = [places.seeing(entering, "entry", starts), places.seeing(leaving, "exit", new Set())];
  const first = new Set(outOf.places.map(({ address }) => address));
  return {
    entries: into.places.map((place) => places.inFrontOf(place, first)),
    exits: outOf.places,
    lostEntries: into.lost,
    lostExits: outOf.lost,
    mixed,
  };
}

interface Edge {
  readonly from: number;
  /** Absent: out of the function. */ readonly to: number | undefined;
  readonly tail?: boolean;
}

function ownOf(flow: CodeFlow, ranges: Copy["ranges"]): Set<number> {
  const own = new Set<number>();
  for (const { low, high } of ranges) {
    for (let i = firstFrom(flow.addresses, low); i < flow.addresses.length && flow.addresses[i] < high; i++) own.add(i);
  }
  return own;
}

/** What can be come to from `from` along `edges`, without going on from what `stops` has. */
function reach(
  from: Iterable<number>,
  edges: readonly (readonly number[])[],
  stops: (index: number) => boolean,
): Set<number> {
  const found = new Set(from);
  const waiting = [...found];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (stops(at)) continue;
    for (const next of edges[at]) {
      if (found.has(next)) continue;
      found.add(next);
      waiting.push(next);
    }
  }
  return found;
}

/** A copy's instructions that control comes to from outside without having been in it. */
function firstOf(flow: CodeFlow, own: ReadonlySet<number>): number[] {
  return [...reach(flow.roots, flow.successors, (index) => own.has(index))].filter((index) => own.has(index));
}

/**
 * Where else a copy begins than where debug information says: compilers repeat the beginning of one, each for another
 * value that is known there, and tell of one. What was moved in front of the beginning leads to it. `more`: there is
 * another way into its code, whichever that means.
 */
function startsBeside(
  flow: CodeFlow,
  own: ReadonlySet<number>,
  told: number,
  choice: PlaceChoice,
): { readonly certain: readonly number[]; readonly more: boolean } {
  const edges = forwardEdges(flow);
  const leading = reach(
    [told],
    edges.map(([, before]) => before),
    () => false,
  );
  const beside = firstOf(flow, new Set([...own].filter((index) => !leading.has(index)).concat(told))).filter(
    (index) => index !== told,
  );
  if (beside.length === 0) return { certain: [], more: false };
  const next = edges.map(([to]) => to);
  const behind = reach([told], next, () => false);
  const goesOn = (index: number): boolean =>
    [...reach([index], next, (at) => at !== index && own.has(at))].some((at) => at !== index && own.has(at));
  const certain = beside.filter(
    (index) => !behind.has(index) && choice.sameStatement(flow.addresses[index], flow.addresses[told]) && goesOn(index),
  );
  // Beginnings that do not come together in the copy's code lead to two copies of it, or one is another statement's.
  const apart = certain.some((index) =>
    [...reach([index], next, () => false)].every((at) => !own.has(at) || !behind.has(at)),
  );
  return { certain, more: apart || certain.length < beside.length };
}

/** Whether a beginning that debug information tells, outside of the copy's own code, leads to it and nowhere else. */
function leadsInto(flow: CodeFlow, own: ReadonlySet<number>, told: number): boolean {
  for (let at = told, steps = 0; steps <= strangers; steps++) {
    if (own.has(at)) return true;
    const [next, ...more] = flow.successors[at];
    if (next === undefined || more.length > 0 || (!own.has(next) && flow.predecessors[next].length !== 1)) return false;
    at = next;
  }
  return false;
}

/**
 * Whether control may come out of a copy and into it again without coming by a beginning: compilers repeat code (loops
 * that are peeled or unrolled), and tell of one copy. Others' instructions may be moved between a copy's own, but not
 * their branches and calls.
 */
function comesAgain(
  flow: CodeFlow,
  own: ReadonlySet<number>,
  starts: ReadonlySet<number>,
  inside: ReadonlySet<number>,
): boolean {
  for (const index of inside) {
    if (own.has(index)) continue;
    const kind = flow.flows[index];
    if (
      kind === "branch" ||
      kind === "call" ||
      kind === "indirect-call" ||
      flow.successors[index].some((to) => starts.has(to))
    )
      return true;
  }
  return false;
}

const forward = new WeakMap<CodeFlow, (readonly [next: readonly number[], before: readonly number[]])[]>();

/** Edges that close no loop, from and to each instruction. */
function forwardEdges(flow: CodeFlow): (readonly [next: readonly number[], before: readonly number[]])[] {
  const known = forward.get(flow);
  if (known !== undefined) return known;
  const next = flow.addresses.map((): number[] => []);
  const before = flow.addresses.map((): number[] => []);
  const state = new Uint8Array(flow.addresses.length);
  for (const root of flow.roots) {
    if (state[root] !== 0) continue;
    const path = [{ at: root, edge: 0 }];
    state[root] = 1;
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const to = flow.successors[top.at][top.edge++];
      if (to === undefined) {
        state[top.at] = 2;
        path.pop();
      } else if (state[to] !== 1) {
        next[top.at].push(to);
        before[to].push(top.at);
        if (state[to] === 0) {
          state[to] = 1;
          path.push({ at: to, edge: 0 });
        }
      }
    }
  }
  const edges = next.map((to, i) => [to, before[i]] as const);
  forward.set(flow, edges);
  return edges;
}

/** Instructions of nobody in front of a copy's first one. */
const strangers = 8;

/**
 * A copy that begins with a loop begins at the loop's head, which a compiler may not count among the copy's
 * instructions.
 */
function atLoop(flow: CodeFlow, own: Set<number>, start: number): number {
  const before: number[] = [];
  for (let at = start; before.length <= strangers;) {
    const from = flow.predecessors[at];
    if (
      at !== start &&
      from.some((index) => own.has(index) && (flow.flows[index] === "branch" || flow.flows[index] === "jump"))
    ) {
      for (const index of before) own.add(index);
      return at;
    }
    const [only] = from;
    if (from.length !== 1 || own.has(only) || flow.successors[only].length !== 1) return start;
    before.push(only);
    at = only;
  }
  return start;
}

/** The instructions between a copy's beginnings and its ends. */
function piece(flow: CodeFlow, own: ReadonlySet<number>, starts: ReadonlySet<number>): ReadonlySet<number> {
  const isStart = (index: number): boolean => starts.has(index);
  // What was moved in front of the beginning also runs where the copy does not.
  const elsewhere = reach(
    flow.roots.filter((root) => !isStart(root)),
    flow.successors,
    isStart,
  );
  const behind = [...own].filter((index) => isStart(index) || !elsewhere.has(index));
  const cut = (edges: readonly (readonly number[])[]): number[][] =>
    edges.map((next) => next.filter((index) => !isStart(index)));
  const forward = reach(behind, cut(flow.successors), () => false);
  const back = reach(behind, flow.predecessors, isStart);
  return new Set([...forward].filter((index) => back.has(index)));
}

interface Seen {
  readonly places: readonly EdgePlace[];
  readonly lost: number;
}

/** Chooses where to see edges. */
class Places {
  readonly #flow: CodeFlow;
  readonly #choice: PlaceChoice;

  constructor(flow: CodeFlow, choice: PlaceChoice) {
    this.#flow = flow;
    this.#choice = choice;
  }

  /** `starts`: of entries, where control may come to from outside the function or from nobody knows where. */
  seeing(edges: readonly Edge[], end: "entry" | "exit", starts: ReadonlySet<number>): Seen {
    const { predecessors, unsure } = this.#flow;
    const places = new Map<string, EdgePlace>();
    const add = (place: EdgePlace): void => {
      places.set(`${place.address} ${place.condition ?? ""}`, place);
    };
    let lost = 0;
    const byTarget = new Map<number | undefined, Edge[]>([...starts].map((start) => [start, []]));
    for (const edge of edges) {
      const same = byTarget.get(edge.to);
      if (same === undefined) byTarget.set(edge.to, [edge]);
      else same.push(edge);
    }
    const rest: Edge[] = [];
    const either: { readonly target: EdgePlace; readonly group: readonly Edge[] }[] = [];
    for (const [to, group] of byTarget) {
      const whole = to !== undefined && (starts.has(to) || !unsure.has(to)) && predecessors[to].length === group.length;
      const target = whole ? this.#behind(to) : undefined;
      if (target === undefined) rest.push(...group);
      else if (end === "entry" || !this.#choice.beginnings.has(target.address)) add(target);
      else either.push({ target, group });
    }
    for (const { target, group } of either) {
      // An exit and a beginning at one instruction would be seen in any order: in front of it, where that can be.
      const together = [...rest, ...group];
      if (group.every((edge) => this.#source(edge, together) !== undefined)) rest.push(...group);
      else add(target);
    }
    for (const edge of rest) {
      const source = this.#source(edge, rest);
      if (source === undefined) lost++;
      else add(source);
    }
    return { places: [...places.values()], lost };
  }

  /**
   * A beginning that is an end as well is seen an instruction earlier, where that can be: probes at one place run in
   * any order.
   */
  inFrontOf(place: EdgePlace, ends: ReadonlySet<bigint>): EdgePlace {
    const { addresses, bytes, flows, successors, predecessors, unsure } = this.#flow;
    const index = ends.has(place.address) && place.condition === undefined ? this.#flow.at(place.address) : undefined;
    if (index === undefined || unsure.has(index) || predecessors[index].length !== 1) return place;
    const [before] = predecessors[index];
    const plain =
      flows[before] === "next" &&
      successors[before].length === 1 &&
      this.#choice.allowed(bytes(before), addresses[before]);
    return plain && !ends.has(addresses[before]) ? { address: addresses[before] } : place;
  }

  /** An instruction, or one that certainly runs after it, that can be probed. */
  #behind(index: number): EdgePlace | undefined {
    const { addresses, bytes, flows, successors, predecessors, unsure } = this.#flow;
    for (let at = index, steps = 0; steps < 8; steps++) {
      if (this.#choice.allowed(bytes(at), addresses[at])) return { address: addresses[at] };
      const [next] = successors[at];
      if (flows[at] !== "next" || next === undefined || predecessors[next].length !== 1 || unsure.has(next))
        return undefined;
      at = next;
    }
    return undefined;
  }

  /** In front of an edge. `edges`: all that are to be seen there. */
  #source({ from, to, tail }: Edge, edges: readonly Edge[]): EdgePlace | undefined {
    const { addresses, bytes, flows, successors, leaving } = this.#flow;
    const flow = flows[from];
    // In front of a call is not behind it.
    if (flow === "call" || flow === "indirect-call") return undefined;
    const address = addresses[from];
    if (!this.#choice.allowed(bytes(from), address)) return undefined;
    const place: EdgePlace = { address, ...(tail === true ? { tail } : {}) };
    const others = successors[from].filter((next) => !edges.some((edge) => edge.from === from && edge.to === next));
    const stays =
      others.length > 0 || (leaving.has(from) && !edges.some((edge) => edge.from === from && edge.to === undefined));
    if (!stays) return place;
    const condition = flow === "branch" ? conditionOf(bytes(from)) : undefined;
    if (condition === undefined || successors[from].length + (leaving.has(from) ? 1 : 0) !== 2) return undefined;
    const taken = to === undefined || to !== from + 1 || !isBehind(this.#flow, from);
    return { ...place, condition: taken ? condition : condition ^ 1 };
  }
}

/** Whether the instruction with the next number is the one behind. */
function isBehind({ addresses, bytes }: CodeFlow, index: number): boolean {
  return addresses[index + 1] === addresses[index] + BigInt(bytes(index).length);
}

/** The condition of a conditional jump; undefined of those that look at a register (jrcxz, loop). */
export function conditionOf(code: Uint8Array): number | undefined {
  let at = 0;
  // Hints, and bnd.
  while (code[at] === 0x2e || code[at] === 0x3e || code[at] === 0xf2) at++;
  const opcode = code[at];
  if (opcode >= 0x70 && opcode <= 0x7f) return opcode & 15;
  return opcode === 0x0f && code[at + 1] >= 0x80 && code[at + 1] <= 0x8f ? code[at + 1] & 15 : undefined;
}

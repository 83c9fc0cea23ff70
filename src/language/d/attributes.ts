// How stable the names are that a script uses, as DTrace's documentation says of each provider and variable: of probe
// descriptions, part by part, and of what clauses ask.
import { describe } from "./descriptions.ts";
import type { Token } from "./tokens.ts";

/** Of names and of data: how far they may change; and on what they depend. */
export interface Attributes {
  readonly names: Stability;
  readonly data: Stability;
  readonly dependency: Dependency;
}

const stabilities = [
  "Internal",
  "Private",
  "Obsolete",
  "External",
  "Unstable",
  "Evolving",
  "Stable",
  "Standard",
] as const;
const dependencies = ["Unknown", "CPU", "Platform", "Group", "ISA", "Common"] as const;
type Stability = (typeof stabilities)[number];
type Dependency = (typeof dependencies)[number];

const of = (names: Stability, dependency: Dependency, data = names): Attributes => ({ names, data, dependency });

export const stable = of("Stable", "Common");
const unstable = of("Unstable", "Common");
const evolving = of("Evolving", "Common");
const evolvingOfMachine = of("Evolving", "ISA");
const hidden = of("Private", "Unknown");
const hiddenOfMachine = of("Private", "ISA");

/** Of a provider, and of what stands in the parts of its descriptions. */
interface Provider {
  readonly name: Attributes;
  readonly function: Attributes;
  readonly module: Attributes;
  readonly args: Attributes;
}

const translated: Provider = { name: evolvingOfMachine, function: hidden, module: hidden, args: evolvingOfMachine };
const traced: Provider = { name: hiddenOfMachine, function: hidden, module: hidden, args: hiddenOfMachine };
const functions: Provider = { ...traced, name: evolvingOfMachine };
const timed: Provider = { name: evolving, function: evolving, module: evolving, args: evolving };

const providers: Readonly<Record<string, Provider>> = {
  dtrace: { name: stable, function: stable, module: stable, args: stable },
  profile: timed,
  cpc: timed,
  syscall: { name: evolving, function: hiddenOfMachine, module: hidden, args: hiddenOfMachine },
  fbt: functions,
  rawfbt: functions,
  ...Object.fromEntries(["proc", "sched", "io", "ip", "tcp", "udp", "lockstat"].map((name) => [name, translated])),
};

/** What holds of both. */
export function least(a: Attributes, b: Attributes): Attributes {
  const first = <T>(all: readonly T[], one: T, other: T): T => all[Math.min(all.indexOf(one), all.indexOf(other))];
  return {
    names: first(stabilities, a.names, b.names),
    data: first(stabilities, a.data, b.data),
    dependency: first(dependencies, a.dependency, b.dependency),
  };
}

/** Of a description as a script has it, and of its arguments: a provider that is not named may be any. */
export function attributesOf(description: string): { readonly probe: Attributes; readonly args: Attributes } {
  const { provider = "", module = "", function: func = "", name = "" } = describe(description) ?? {};
  if (provider === "" || /[*?[]/.test(provider)) return { probe: unstable, args: unstable };
  const known = Object.hasOwn(providers, provider) ? providers[provider] : traced;
  const parts = [
    ...(module === "" ? [] : [known.module]),
    ...(func === "" ? [] : [known.function]),
    ...(name === "" ? [] : [known.name]),
  ];
  return { probe: parts.reduce(least, known.name), args: known.args };
}

/** Of a variable of D's own, but for `args`: what the kernel keeps of a thread changes with it. */
export function attributesOfVariable(name: string): Attributes {
  return name === "curthread" ? of("Stable", "Common", "Private") : stable;
}

/** Of what the words of a clause ask, at probes with such arguments. */
export function attributesAsked(tokens: readonly Token[], args: Attributes): Attributes {
  return tokens.reduce((all, { kind, text }, i) => {
    if (text === "`" && kind === "punctuation") return least(all, hidden);
    if (kind !== "identifier") return all;
    return least(all, text === "args" && tokens[i + 1]?.text === "[" ? args : attributesOfVariable(text));
  }, stable);
}

/** `Unstable/Unstable/Common` */
export function spelledAttributes({ names, data, dependency }: Attributes): string {
  return `${names}/${data}/${dependency}`;
}

/** What is spelled so; undefined where it is nothing. */
export function readAttributes(text: string): Attributes | undefined {
  const [names, data, dependency, more] = text.split("/");
  const find = <T extends string>(all: readonly T[], word = ""): T | undefined =>
    all.find((one) => one.toLowerCase() === word.toLowerCase());
  const [n, d, c] = [find(stabilities, names), find(stabilities, data), find(dependencies, dependency)];
  return n === undefined || d === undefined || c === undefined || more !== undefined
    ? undefined
    : { names: n, data: d, dependency: c };
}

export function isLess(a: Attributes, b: Attributes): boolean {
  return spelledAttributes(least(a, b)) !== spelledAttributes(b);
}

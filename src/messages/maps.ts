// Maps: keys, values, aggregations.
import { says, type Message, type Shown } from "./message.ts";

export const maps = {
  /** @example begin { @a[1] = 1; @a[1, 2] = 1; @a = 1; } */
  keyMismatch: (name: Shown, here: string | undefined, elsewhere: string | undefined): Message => {
    const [withKey, without] = ["with an explicit key (non-scalar map)", "without an explicit key (scalar map)"];
    if (here === undefined)
      return says("type", `${name} used as a map ${without}, elsewhere used ${withKey}, ${elsewhere}`);
    if (elsewhere === undefined)
      return says("type", `${name} used as a map ${withKey}, ${here}, elsewhere used ${without}`);
    return says(
      "type",
      `argument mismatch for ${name}: trying to access with arguments: ${here} when map expects arguments: ${elsewhere}`,
    );
  },
  /** @example begin { @ = avg("a"); } */
  onlySupportsIntegerArgumentsProvided: (name: Shown, type: Shown, help?: string): Message =>
    says("type", `${name}() only supports integer arguments (${type} provided)`, help),
  /** @example kprobe:f { @ = lhist(pid, pid, 10, 1); } */
  needsConstantsHere: (name: Shown): Message => says("arguments", `${name}() needs constants here`),
  /** @example kprobe:f { @ = lhist(pid, 0, 10, 1); @ = lhist(pid, 0, 20, 1); } */
  holdsOtherParametersElsewhere: (body: Shown, aggregate: Shown): Message =>
    says("type", `${body} holds ${aggregate}() with different parameters elsewhere`),
  /**
   * @on systemtap
   * @example
   * global a
   * probe begin { a[1] = 5; foreach (k in a @sum-) println(k) }
   */
  keepsNoStatistic: (map: Shown, type: Shown): Message =>
    says("type", `only a statistic has several results, and ${map} holds ${type}`),
  /** Of a histogram of SystemTap as a value. */
  resultIsDrawn: (name: Shown): Message => says("type", `${name}() of a statistic has no single value: print it`),
  /** @example begin { &@x; } */
  undefinedMap: (body: Shown, help?: string): Message => says("name", `undefined map: ${body}`, help),
  /** @example begin { delete(5); } */
  expectsMapArgument: (body: Shown): Message => says("arguments", `${body}() expects a map argument`),
  /** @example begin { @[1] = 1; delete(@[1], 2); } */
  expectsMapWithoutKeysKey: (body: Shown): Message =>
    says("arguments", `${body}() expects the map without keys, and the key after it`),
  /** @example begin { @x = 1; delete(@x, 2); } */
  callExpectsMapExplicitKeys: (body: Shown, body2: Shown): Message =>
    says("arguments", `call to ${body}() expects a map with explicit keys (non-scalar map), and ${body2} has none`),
  /** @example begin { @[1] = 1; if (find(@, 1, 5)) { } } */
  findExpectsVariableWhatFinds: (): Message => says("arguments", "find() expects a variable as its last argument"),
  /** @example begin { @[1] = 1; clear(@[1]); } */
  expectsMapArgumentWithoutKeys: (body: Shown): Message =>
    says("arguments", `${body}() expects a map argument, without keys`),
  /** @example begin { @x = 1; print(len(@x)); } */
  noKeysCount: (body: Shown): Message => says("type", `${body} has no keys to count`),
  /** @example begin { len(1); } */
  callLenExpectsMapUstack: (type: Shown): Message =>
    says("type", `call to len() expects a map, ustack, or kstack, found ${type}`),
};

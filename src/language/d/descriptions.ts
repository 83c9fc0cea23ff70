// Probe descriptions as they are written: four parts.

export interface Described {
  readonly provider: string;
  readonly module: string;
  readonly function: string;
  readonly name: string;
}

/** Parts are counted from the right: `write:entry` is a function and a name. */
export function describe(text: string): Described | undefined {
  const parts = text.split(":");
  if (parts.length > 4) return undefined;
  const [name, of, module, provider] = parts.toReversed().map((part) => part.trim());
  return { provider: provider ?? "", module: module ?? "", function: of ?? "", name };
}

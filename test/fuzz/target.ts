/** A valid input. `ranges`: parts of it that deserve as much damage each, however small: headers, sections. */
export interface Seed {
  readonly bytes: Buffer;
  readonly ranges?: readonly (readonly [from: number, to: number])[];
}

/** Something that takes bytes of any kind. */
export interface Target {
  readonly name: string;
  /** Inputs are text, made of such words. */
  readonly words?: readonly string[];
  /** Made once a process. */
  readonly seeds: () => readonly Seed[];
  /** Throws, where the input is refused. */
  readonly run: (input: Buffer) => void;
  /** Whether an error is the typed one that a refusal is. */
  readonly refuses: (error: unknown) => boolean;
}

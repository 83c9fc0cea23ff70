// What a handler refers to outside of itself. Its source does not tell, so somebody has to: the module hook, the
// plugins of bundlers and `strobe run` wrap handlers in `withCaptures`; without them a person passes captures to the
// probe.

/** A function that is compiled from its source, never called. */
export type SourceFunction = Function;

/** Where a function was written, so that messages show that text: its first character is `text[offset]`. */
export interface Place {
  readonly file: string;
  readonly text: string;
  readonly offset: number;
  /**
   * The function as JavaScript, in place: `text.slice(offset)` with its types blanked. What rewriters saw, before a
   * bundler that renames or minifies came by; read it rather than the function's own source, and its names are those of
   * `captures`.
   */
  readonly code?: string;
}

export interface Carried {
  /** Read when the probe is attached, so that what is defined further down may be named. */
  readonly captures: () => Readonly<Record<string, unknown>>;
  readonly place?: Place;
}

const carried = new WeakMap<SourceFunction, Carried>();

/**
 * Remembers what the names in a function mean. `captures` has every name that the function takes from outside; `place`
 * is where it was written before types were stripped. Gives the function back.
 */
export function withCaptures<F extends SourceFunction>(
  fn: F,
  captures: () => Readonly<Record<string, unknown>>,
  place?: Place,
): F {
  carried.set(fn, place === undefined ? { captures } : { captures, place });
  return fn;
}

export function carriedBy(fn: SourceFunction): Carried | undefined {
  return carried.get(fn);
}

// A script and the files that it imports are one text: spans stay plain offsets, and this tells which file one is in.

/** A file's share of a text: from `start` up to the next one's. */
export interface SourcePart {
  readonly name: string;
  readonly start: number;
}
interface Source {
  readonly name: string;
  readonly text: string;
  readonly parts?: readonly SourcePart[];
}

/** The file that an offset is in, as a source of its own, and where it begins in the whole. */
export function partAt(
  source: Source,
  offset: number,
): { readonly name: string; readonly text: string; readonly start: number } {
  const parts = source.parts ?? [];
  const index = parts.findLastIndex((part) => part.start <= offset);
  if (index < 0) return { name: source.name, text: source.text, start: 0 };
  const { name, start } = parts[index];
  return { name, text: source.text.slice(start, parts[index + 1]?.start), start };
}

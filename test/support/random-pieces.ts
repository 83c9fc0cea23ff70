// Programs as trees of statements, so that one that fails can be made smaller.

/** Statements with their texts in between: `["if (x) {", [ … ], "} else {", [ … ], "}"]`. */
export interface Piece {
  readonly parts: readonly (string | readonly Piece[])[];
}

export const piece = (...parts: (string | readonly Piece[])[]): Piece => ({ parts });

export function render(pieces: readonly Piece[], indent = ""): string {
  return pieces
    .map(({ parts }) => {
      const lines: string[] = [];
      for (const part of parts) {
        if (typeof part === "string") lines.push(indent + part);
        else lines.push(render(part, `${indent}  `));
      }
      return lines.filter((line) => line !== "").join("\n");
    })
    .filter((text) => text !== "")
    .join("\n");
}

/** Programs that are a step smaller: without some statements, or with a block's statements in its place. */
export function* smaller(pieces: readonly Piece[]): Generator<readonly Piece[]> {
  for (let size = pieces.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= pieces.length; at += size) yield [...pieces.slice(0, at), ...pieces.slice(at + size)];
  }
  for (const [i, { parts }] of pieces.entries()) {
    for (const [j, part] of parts.entries()) {
      if (typeof part === "string") continue;
      yield [...pieces.slice(0, i), ...part, ...pieces.slice(i + 1)];
      for (const less of smaller(part))
        yield [...pieces.slice(0, i), { parts: parts.with(j, less) }, ...pieces.slice(i + 1)];
    }
  }
}

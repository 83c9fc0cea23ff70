// Wildcards of probe names: `*` any text, `?` any character, `[a-c]` and `[!a-c]` one of a set.

export function hasWildcard(pattern: string): boolean {
  if (/[*?]/.test(pattern)) return true;
  const close = pattern.lastIndexOf("]");
  for (let open = pattern.indexOf("["); open >= 0 && open + 1 < close; open = pattern.indexOf("[", open + 1))
    if (pattern[open + 1] !== "]") return true;
  return false;
}

/** What a name must begin with to match. */
export function fixedStart(pattern: string): string {
  const first = pattern.search(/[*?[]/);
  return first < 0 ? pattern : pattern.slice(0, first);
}

/** matches() for many names: what can be told without an expression is. */
export function matcher(pattern: string): (name: string) => boolean {
  if (!hasWildcard(pattern)) return (name) => name === pattern;
  const start = fixedStart(pattern);
  if (pattern === `${start}*`) return (name) => name.startsWith(start);
  return (name) => name.startsWith(start) && matches(pattern, name);
}

/** Names are far shorter than this. */
const longest = 8192;

const compiled = new Map<string, (name: string) => boolean>();

/** Whether a whole name matches. A pattern without wildcards matches itself. */
export function matches(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  if (pattern.length > longest) return false;
  let matching = compiled.get(pattern);
  if (matching === undefined) {
    if (!hasWildcard(pattern)) return pattern === name;
    matching = translate(pattern);
    compiled.set(pattern, matching);
  }
  return matching(name);
}

function translate(pattern: string): (name: string) => boolean {
  const pieces = piecesOf(pattern);
  if (pieces.length <= fewPieces) {
    const expression = new RegExp(`^${pieces.join(".*")}$`, "s");
    return (name) => expression.test(name);
  }
  // What stands between stars is as long as it is: the first place where it fits is as good as any. So time grows with
  // the name, and not with a power of it.
  const [first, last] = [new RegExp(`^${pieces[0]}`, "s"), new RegExp(`${pieces[pieces.length - 1]}$`, "gs")];
  const between = pieces.slice(1, -1).map((piece) => new RegExp(piece, "gs"));
  return (name) => {
    let at = first.exec(name)?.[0].length;
    for (const piece of between) {
      if (at === undefined) return false;
      piece.lastIndex = at;
      at = piece.test(name) ? piece.lastIndex : undefined;
    }
    if (at === undefined) return false;
    last.lastIndex = at;
    return last.test(name);
  };
}

/** Up to two stars cost little in any case. */
const fewPieces = 3;

/** What stands between the stars; stars in a row say no more than one. */
function piecesOf(pattern: string): string[] {
  const pieces: string[] = [];
  let text = "";
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "*") {
      if (text !== "" || pieces.length === 0) pieces.push(text);
      text = "";
    } else if (char === "?") text += ".";
    else if (char === "[") {
      const end = pattern.indexOf("]", i + 2);
      if (end < 0) text += "\\[";
      else {
        const set = pattern
          .slice(i + 1, end)
          .replace(/^!/, "^")
          .replace(/[\\[\]]/g, "\\$&");
        text += isSet(set) ? `[${set}]` : escape(pattern.slice(i, end + 1));
        i = end;
      }
    } else text += escape(char);
  }
  return [...pieces, text];
}

/** Ranges may be the wrong way round (`[z-a]`): then the text stands for itself. */
function isSet(set: string): boolean {
  try {
    return new RegExp(`[${set}]`) instanceof RegExp;
  } catch {
    return false;
  }
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

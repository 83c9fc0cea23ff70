// Wildcards of probe names: `*` any text, `?` any character, `[a-c]` and `[!a-c]` one of a set.

export function hasWildcard(pattern: string): boolean {
  return /[*?]|\[[^\]]+\]/.test(pattern);
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

/** Names are far shorter than this; expressions that are far longer, V8 refuses. */
const longest = 8192;

const compiled = new Map<string, RegExp>();

/** Whether a whole name matches. A pattern without wildcards matches itself. */
export function matches(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  if (pattern.length > longest) return false;
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    if (!hasWildcard(pattern)) return pattern === name;
    expression = new RegExp(`^${translate(pattern)}$`, "s");
    compiled.set(pattern, expression);
  }
  return expression.test(name);
}

function translate(pattern: string): string {
  let text = "";
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    // Stars in a row say no more than one, and would be slow.
    if (char === "*") text += text.endsWith(".*") ? "" : ".*";
    else if (char === "?") text += ".";
    else if (char === "[") {
      const end = pattern.indexOf("]", i + 2);
      if (end < 0) text += "\\[";
      else {
        const set = pattern.slice(i + 1, end).replace(/^!/, "^").replace(/[\\[\]]/g, "\\$&");
        text += isSet(set) ? `[${set}]` : escape(pattern.slice(i, end + 1));
        i = end;
      }
    } else text += escape(char);
  }
  return text;
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

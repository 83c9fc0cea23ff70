/** The word around an offset, with its sigil (of `sigils`): `$name`, `@name`, `name`. Its span is empty between words. */
export function wordAt(
  text: string,
  offset: number,
  sigils: string,
): { readonly word: string; readonly start: number; readonly end: number } {
  let start = offset;
  while (start > 0 && isWord(text[start - 1])) start--;
  let end = offset;
  while (end < text.length && isWord(text[end])) end++;
  const isSigil = (character: string | undefined): boolean => character !== undefined && sigils.includes(character);
  if (start > 0 && isSigil(text[start - 1])) start--;
  else if (isSigil(text[start])) {
    end = start + 1;
    while (end < text.length && isWord(text[end])) end++;
  }
  return { word: text.slice(start, end), start, end };
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}

/** Whether an offset is in a comment, `from` being the end of the last token before it. */
export function insideComment(text: string, from: number, offset: number, lineComment = "//"): boolean {
  const trivia = text.slice(from, offset);
  return trivia.slice(trivia.lastIndexOf("\n") + 1).includes(lineComment) || /\/\*(?:(?!\*\/)[^])*$/.test(trivia);
}

// Methods that programs like to call and that handlers do not have, and what to do instead.

const texts = "texts are built and taken apart in Node: emit() them";
const walks = "go over it: for (const [key, value] of m), for (const item of list), for (const i of range(n))";

export const missingMethods: Readonly<Record<string, string>> = {
  split: 'take one part of it, by its number: text.split(",")[0]; or emit() the text, and split it in Node',
  replace: texts,
  replaceAll: texts,
  repeat: texts,
  normalize: texts,
  lastIndexOf: texts,
  join: "print(`${a},${b}`), or emit the values and join them in Node",
  localeCompare: "`<` compares texts by their bytes; sort them by a language's rules in Node",
  match: "ask whether it matches, /x/.test(text); or match in Node",
  search: "ask whether it matches, /x/.test(text); includes(), indexOf(); or match in Node",
  test: "write the regular expression where it is asked: /x/.test(text)",
  toFixed: 'printf("%.2f", x) writes a double with two digits',
  toPrecision: 'printf("%.3g", x) writes a double with three digits',
  forEach: walks,
  map: walks,
  filter: walks,
  reduce: walks,
  find: walks,
  every: walks,
  flatMap: walks,
  some: `list.includes(value), or ${walks}`,
  push: "keep values in a map: m.set(index, value)",
  pop: "keep values in a map: m.delete(index)",
};

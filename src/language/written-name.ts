/** A name as its author wrote it: what a front-end makes unique carries a number that nobody wrote, `x#2`. */
export function writtenName(name: string): string {
  return name.replaceAll(/#\d+/g, "");
}

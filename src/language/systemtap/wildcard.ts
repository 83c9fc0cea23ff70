/** Names with `*` and `?` in them. */
export function wildcard(pattern: string): RegExp {
  return new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`,
  );
}

// The macros of SystemTap's library, each read where a script uses it.

const plain: Readonly<Record<string, string>> = {
  choose_defined: "(value, other) %( (@defined(@value) ? @value : @other) %)",
  offsetof: "(type, member) %( (&@cast(0, @type)->@member) %)",
  module_offsetof: "(module, type, member) %( (&@cast(0, @type, @module)->@member) %)",
  container_of: "(ptr, type, member) %( (@ptr - (&@cast(0, @type)->@member)) %)",
  module_container_of: "(ptr, module, type, member) %( (@ptr - (&@cast(0, @type, @module)->@member)) %)",
  cast_sizeof: "(type) %( (&@cast(0, @type)[1]) %)",
  cast_module_sizeof: "(module, type) %( (&@cast(0, @type, @module)[1]) %)",
  type_defined: "(type) %( @defined(&@cast(0, @type)[0]) %)",
  module_type_defined: "(module, type) %( @defined(&@cast(0, @type, @module)[0]) %)",
  type_member_defined: "(type, member) %( @defined(&@cast(0, @type)->@member) %)",
  module_type_member_defined: "(module, type, member) %( @defined(&@cast(0, @type, @module)->@member) %)",
  try_assign: "(target, value, other) %( try { @target = @value } catch { @target = @other } %)",
};

/** Its definition, as it would stand in a script. */
export function libraryMacro(name: string): string | undefined {
  if (Object.hasOwn(plain, name)) return `@define ${name}${plain[name]}`;
  return undefined;
}

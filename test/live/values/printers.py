# Run by gdb: what libstdc++'s printers have of `v` at each see_N, a line of JSON each, cut as strobe cuts.
import gdb, json

MOST, TEXT = 16, 63

def plain(type): return type.strip_typedefs().unqualified()

def shown(value, inner=True):
    if isinstance(value, bool): return value # of std::vector<bool>, the printer has made them already
    type = plain(value.type)
    if type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF): return shown(value.referenced_value(), inner)
    printer = gdb.default_visualizer(value)
    if printer is None: return without(value, type)
    hint = printer.display_hint() if hasattr(printer, "display_hint") else None
    if hint == "string": return text(printer.to_string(), inner)
    children = [child for _, child in printer.children()]
    name = type.tag or ""
    if name.startswith(("std::unique_ptr<", "std::shared_ptr<")): return None if int(children[0]) == 0 else shown(children[0].dereference())
    if name.startswith("std::optional<"): return shown(children[0]) if children else None
    if hint == "map": return mapping(list(zip(children[::2], children[1::2])))
    return cut([shown(child) for child in children])

def text(lazy, inner):
    if isinstance(lazy, str): return lazy
    bytes = gdb.selected_inferior().read_memory(lazy.address, lazy.length).tobytes() if lazy.length else b""
    # strobe marks text that fills its room: it cannot tell whether more follows.
    return (bytes[:TEXT] + (b".." if len(bytes) >= TEXT else b"") if inner else bytes).decode()

def without(value, type):
    if type.code == gdb.TYPE_CODE_BOOL: return bool(value)
    if type.code == gdb.TYPE_CODE_INT: return int(value)
    if type.code == gdb.TYPE_CODE_ARRAY: return cut([shown(value[i]) for i in range(type.range()[1] + 1)])
    members = [shown(value[field]) for field in type.fields() if not field.is_base_class]
    # std::array has one member, std::pair two.
    return members[0] if (type.tag or "").startswith("std::array<") else members

def cut(items):
    return items[:MOST] + ([f"… {len(items) - MOST} more"] if len(items) > MOST else [])

def mapping(pairs):
    pairs = [[shown(one) for one in pair] for pair in pairs]
    if any(isinstance(key, list) for key, _ in pairs): return cut(pairs)
    left = {"…": f"… {len(pairs) - MOST} more"} if len(pairs) > MOST else {}
    return {**{str(key): value for key, value in pairs[:MOST]}, **left}

class See(gdb.Breakpoint):
    def stop(self):
        lines.append(json.dumps(shown(gdb.parse_and_eval("v"), inner=False)))
        return False

lines = []
for name in NAMES: See(name)
gdb.execute("run > /dev/null")
for line in lines: print("SEEN " + line)

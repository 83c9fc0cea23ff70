// C++ names as their authors wrote them, by the system's own C++ runtime (`__cxa_demangle` of the Itanium C++ ABI).
import { textFunction, type TextFunction } from "./ffi.ts";

const runtimes = ["libstdc++.so.6", "libc++abi.so.1"];
/** Longer names are nobody's to read. */
const longestName = 1 << 14;

let demangler: TextFunction | undefined;
let looked = false;

/**
 * `app::Server::handle(int)` of `_ZN3app6Server6handleEi`. Undefined for a name that is none of C++, and where there is
 * no C++ runtime.
 */
export function demangle(symbol: string): string | undefined {
  // The runtime would read "i" as a type: int.
  if (!symbol.startsWith("_Z") || symbol.length > longestName) return undefined;
  if (!looked) {
    looked = true;
    demangler = load();
  }
  return demangler?.(symbol, 0, 0, 0) ?? undefined;
}

function load(): TextFunction | undefined {
  for (const library of runtimes) {
    try {
      // Behind the name: a buffer, its length, a status; we give none.
      return textFunction(library, "__cxa_demangle", 3);
    } catch {
      // not on this system
    }
  }
  return undefined;
}

// The units of a binary, wherever their entries are: in the file itself, in files that split them off (.dwo), in a
// package of such files (.dwp), in the one that dwz moved shared entries to.
import { AT, UNIT } from "./constants.ts";
import { alternateLink, keptOf, type DebugFiles } from "./input-files.ts";
import { packagedSections } from "./packages.ts";
import { DwarfSections } from "./sections.ts";
import { UnitAddresses } from "./unit-addresses.ts";
import type { UnitHeader } from "./unit-headers.ts";
import { DwarfFile, type Unit } from "./units.ts";

export class WholeUnits {
  /** The file with .debug_info. */
  readonly main: DwarfFile;
  readonly #files: DebugFiles;
  #addresses: UnitAddresses | undefined;
  #alternateFile: { readonly found: DwarfFile | undefined } | undefined;
  #package: { readonly found: DwarfSections | undefined } | undefined;
  readonly #packagedTypes = new Map<bigint, { readonly file: DwarfFile | undefined }>();
  readonly #splits = new Map<UnitHeader, Unit>();

  constructor(files: DebugFiles) {
    this.#files = files;
    this.main = new DwarfFile(DwarfSections.of(files.debug), () => this.alternate);
  }

  /** Those whose code holds an address. */
  *at(address: number): Iterable<Unit> {
    this.#addresses ??= new UnitAddresses(this.main, keptOf(this.#files, this.main, "addresses"));
    for (const header of this.#addresses.at(address)) yield this.whole(header);
  }

  /** A unit, or the split one that a skeleton stands for, when its file is there. */
  whole(header: UnitHeader): Unit {
    const name = this.splitName(header);
    const unit = this.main.unit(header);
    if (name === undefined) return unit;
    let whole = this.#splits.get(header);
    if (whole === undefined) {
      whole = this.#openSplit(unit, name) ?? unit;
      this.#splits.set(header, whole);
    }
    return whole;
  }

  /** The file that has a unit's entries, when it is just a skeleton. */
  splitName(header: UnitHeader): string | undefined {
    // DWARF 5 marks skeletons; before, they had their addresses in a section of its own.
    if (header.version >= 5 ? header.type !== UNIT.skeleton : this.main.sections.find("debug_addr") === undefined)
      return undefined;
    const root = this.main.root(header);
    return root.text(AT.dwo_name) ?? root.text(AT.GNU_dwo_name);
  }

  #openSplit(skeleton: Unit, name: string): Unit | undefined {
    const id = skeleton.header.dwoId ?? skeleton.root.constant(AT.GNU_dwo_id);
    const packed = id === undefined ? undefined : this.#fromPackage("debug_cu_index", BigInt.asUintN(64, id));
    const elf = packed === undefined ? this.#files.split?.(name, skeleton.root.text(AT.comp_dir) ?? "") : undefined;
    const file = packed ?? (elf && new DwarfFile(DwarfSections.of(elf, true), undefined, true));
    if (file === undefined) return undefined;
    file.skeleton = skeleton;
    const header = file.headers().find((each) => (each.dwoId ?? file.unit(each).root.constant(AT.GNU_dwo_id)) === id);
    return header && file.unit(header);
  }

  /** A unit of the package file, as a file of its own. */
  #fromPackage(index: "debug_cu_index" | "debug_tu_index", signature: bigint): DwarfFile | undefined {
    if (this.#package === undefined) {
      const elf = this.#files.package?.();
      this.#package = { found: elf && DwarfSections.of(elf, true, [".debug_cu_index", ".debug_tu_index"]) };
    }
    const sections = this.#package.found && packagedSections(this.#package.found, index, signature);
    if (sections === undefined) return undefined;
    const file = new DwarfFile(sections, undefined, true);
    if (index === "debug_cu_index") {
      file.elsewhere = (type) => {
        let found = this.#packagedTypes.get(type);
        if (found === undefined)
          this.#packagedTypes.set(type, (found = { file: this.#fromPackage("debug_tu_index", type) }));
        if (found.file !== undefined) found.file.elsewhere = file.elsewhere;
        return found.file?.typeWithSignature(type);
      };
    }
    return file;
  }

  get alternate(): DwarfFile | undefined {
    if (this.#alternateFile === undefined) {
      const link = alternateLink(this.#files.debug);
      const elf = link && this.#files.alternate?.(link.path, link.id);
      const found = elf && new DwarfFile(DwarfSections.of(elf));
      this.#alternateFile = { found };
    }
    return this.#alternateFile.found;
  }
}

// A plan as plain data to its end, so that it can be written down: types of structs and enums are decoded when somebody
// asks, and go on through pointers without an end. A session asks for the members of what it shows, and for nothing
// behind a pointer.
import { DamageError } from "../debuginfo/damage.ts";
import { voidType, type Member, type StructVariants, type Type } from "../language/types.ts";
import type { Plan } from "./plan.ts";

/**
 * Members that the types of a plan may have, all together: reading more would take about as long as compiling the
 * script.
 */
const mostMembers = 2000;
/** Types within each other. */
const deepest = 40;

/** The plan with its types decoded. Undefined where they have too many members, or cannot be decoded. */
export function plainPlan(plan: Plan): Plan | undefined {
  const types = new PlainTypes();
  try {
    const schemas = plan.schemas.map((schema) => ({
      ...schema,
      fields: schema.fields.map((field) => ({ ...field, type: types.of(field.type) })),
    }));
    const maps = plan.maps.map((map) => ({
      ...map,
      keys: map.keys.map((key) => types.of(key)),
      value: types.of(map.value),
    }));
    return types.left < 0 ? undefined : { ...plan, schemas, maps };
  } catch (error) {
    // Whoever shows a value of such a type says so.
    if (error instanceof DamageError) return undefined;
    throw error;
  }
}

class PlainTypes {
  /** Members that there is room for. */
  left = mostMembers;
  #depth = 0;

  of(type: Type): Type {
    // Damaged debug information may have a struct within itself.
    if (this.#depth === deepest) this.left = -1;
    if (this.left < 0) return voidType;
    this.#depth++;
    const plain = this.#plain(type);
    this.#depth--;
    return plain;
  }

  #plain(type: Type): Type {
    switch (type.kind) {
      case "pointer":
        return { kind: "pointer", target: voidType, space: type.space };
      case "array":
        return { ...type, element: this.of(type.element) };
      case "sequence":
        return { ...type, element: this.of(type.element) };
      case "tuple":
        return { ...type, elements: type.elements.map((element) => this.of(element)) };
      case "record":
        return { ...type, fields: type.fields.map((field) => ({ ...field, type: this.of(field.type) })) };
      case "choice":
        return {
          ...type,
          alternatives: type.alternatives.map((each) =>
            each.type === undefined ? each : { ...each, type: this.of(each.type) },
          ),
        };
      case "enum": {
        this.left -= type.names.size;
        return { ...type, names: type.names };
      }
      case "struct": {
        const { union, name, size, alignment, partial, space, variants } = type;
        return {
          kind: "struct",
          union,
          name,
          size,
          members: type.members.map((member) => this.#member(member)),
          ...(alignment !== undefined && { alignment }),
          ...(partial !== undefined && { partial }),
          ...(space !== undefined && { space }),
          ...(variants !== undefined && { variants: this.#variants(variants) }),
        };
      }
      default:
        return type;
    }
  }

  #member({ name, type, offset, bitOffset, bitWidth, absent }: Member): Member {
    this.left--;
    return {
      name,
      type: this.of(type),
      offset,
      ...(bitOffset !== undefined && { bitOffset }),
      ...(bitWidth !== undefined && { bitWidth }),
      ...(absent !== undefined && { absent }),
    };
  }

  #variants({ discriminant, variants }: StructVariants): StructVariants {
    return {
      ...(discriminant !== undefined && { discriminant: this.#member(discriminant) }),
      variants: variants.map(({ values, member }) => ({ values, member: this.#member(member) })),
    };
  }
}

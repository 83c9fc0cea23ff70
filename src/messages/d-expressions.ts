// Scripts in D: operators, casts and members, in DTrace's words and with its tags.
import { tagged, type Message } from "./message.ts";

export const dExpressions = {
  /** @example BEGIN { timestamp = 5; } */
  cannotAssign: (operator: string): Message =>
    tagged("D_OP_WRITE", "type", `operator ${operator} can only be applied to a writable variable`),
  /** @example BEGIN { 5++; } */
  noLvalue: (operator: string): Message =>
    tagged("D_OP_LVAL", "type", `operator ${operator} requires modifiable lvalue as an operand`),
  /** @example BEGIN { x = "x" == 1; } */
  incompatible: (left: string, operator: string, right: string): Message =>
    tagged("D_OP_INCOMPAT", "type", `operands have incompatible types: "${left}" ${operator} "${right}"`),
  /** @example BEGIN { trace(1), trace(2); } */
  joined: (tag: "D_OP_ACT" | "D_OP_DYN", what: string): Message =>
    tagged(tag, "type", `operator , operands cannot be ${what}`),
  /** @example int a[3]; int b[3]; BEGIN { a = b; } */
  notOfType: (operator: string, type: string): Message =>
    tagged("D_OP_ARRFUN", "type", `operator ${operator} may not be applied to operand of type "${type}"`),
  /** @example BEGIN { x = "x" << 1; } */
  integralOperands: (operator: string): Message =>
    tagged("D_OP_INT", "type", `operator ${operator} requires operands of integral type`),
  /** @example BEGIN { x = ~"x"; } */
  integralOperand: (operator: string): Message =>
    tagged("D_OP_INT", "type", `operator ${operator} requires an operand of integral type`),
  /** @example BEGIN { x = "a" + 1; } */
  arithmeticOperands: (operator: string): Message =>
    tagged("D_OP_ARITH", "type", `operator ${operator} requires operands of arithmetic type`),
  /** @example BEGIN { x = -"x"; } */
  arithmeticOperand: (operator: string): Message =>
    tagged("D_OP_ARITH", "type", `operator ${operator} requires an operand of arithmetic type`),
  /** @example BEGIN { x = !"x"; } */
  scalarOperand: (operator: string): Message =>
    tagged("D_OP_SCALAR", "type", `operator ${operator} requires an operand of scalar type`),
  /**
   * @example
   * struct a { int x; }; struct a a;
   * BEGIN { x = a ? 1 : 2; }
   */
  scalarCondition: (): Message => tagged("D_OP_SCALAR", "type", "operator ?: expression must be of scalar type"),
  /** @example BEGIN { x = "x"; x++; } */
  scalarCounted: (operator: string): Message =>
    tagged("D_OP_SCALAR", "type", `operator ${operator} requires operand of scalar type`),
  /** @example BEGIN { x = 1 ? "a" : 2; } */
  incompatibleBranches: (): Message =>
    tagged("D_OP_INCOMPAT", "type", "operator ?: operands must have compatible types"),
  /** @example BEGIN { x = 5 / 0; } */
  divisionByZero: (): Message => tagged("D_DIV_ZERO", "type", "expression contains division by zero"),
  /** @example BEGIN { x = *5; } */
  notAPointer: (): Message => tagged("D_DEREF_NONPTR", "type", "cannot dereference non-pointer type"),
  /** @example BEGIN { x = *(void *)0; } */
  voidPointer: (): Message => tagged("D_DEREF_VOID", "type", "cannot dereference pointer to void"),
  /** @example BEGIN { x = &pid; } */
  addressOfVariable: (): Message => tagged("D_ADDROF_VAR", "type", "cannot take address of dynamic variable"),
  /**
   * @example
   * struct a { int x : 3; }; struct a a;
   * BEGIN { x = &a.x; }
   */
  addressOfBits: (): Message => tagged("D_ADDROF_BITFIELD", "type", "cannot take address of bit-field"),
  /** @example BEGIN { x = &5; } */
  noAddress: (): Message => tagged("D_ADDROF_LVAL", "type", "unacceptable operand for unary & operator"),
  /** @example BEGIN { y = 5; x = y.a; } */
  noStruct: (type: string): Message =>
    tagged("D_OP_SOU", "type", `operator . cannot be applied to type "${type}"; must be applied to a struct or union`),
  /** @example BEGIN { y = 5; x = y->a; } */
  noPointer: (): Message => tagged("D_OP_PTR", "type", "operator -> must be applied to a pointer"),
  /**
   * @on small-kernel
   * @example
   * struct nothing *p;
   * BEGIN { trace(p->x); }
   */
  forwardDeclaration: (operator: string, type: string): Message =>
    tagged(
      "D_OP_INCOMPLETE",
      "type",
      `operator ${operator} cannot be applied to a forward declaration: no ${type} definition is available`,
    ),
  /** @example BEGIN { x = curthread->nosuch; } */
  noMemberOf: (type: string, name: string): Message =>
    tagged("D_TYPE_MEMBER", "name", `${name} is not a member of ${type}`),
  /** @example BEGIN { x = (int)"x"; } */
  invalidCast: (from: string, to: string): Message =>
    tagged("D_CAST_INVAL", "type", `invalid cast expression: "${from}" to "${to}"`),
  /** @example BEGIN { x = sizeof (void); } */
  sizeOfVoid: (): Message => tagged("D_SIZEOF_TYPE", "type", "cannot apply sizeof to an operand of unknown size"),
  /**
   * @example
   * struct a { int x : 3; }; struct a a;
   * BEGIN { x = sizeof (a.x); }
   */
  sizeOfBits: (): Message => tagged("D_SIZEOF_BITFIELD", "type", "cannot apply sizeof to a bit-field"),
  /** @example BEGIN { x = offsetof(int, x); } */
  offsetOfNoStruct: (): Message => tagged("D_OFFSETOF_TYPE", "type", "offsetof operand must be a struct or union type"),
  /**
   * @example
   * struct a { int x : 3; };
   * BEGIN { x = offsetof(struct a, x); }
   */
  offsetOfBits: (name: string): Message =>
    tagged("D_OFFSETOF_BITFIELD", "type", `cannot take offset of a bit-field: ${name}`),
  /**
   * @example
   * struct a { int x; };
   * BEGIN { x = offsetof(struct a, z); }
   */
  offsetOfNoMember: (name: string): Message =>
    tagged("D_UNKNOWN", "name", `failed to determine offset of ${name}: Member name not found.`),
  /**
   * @example
   * struct a { int x; }; struct a a;
   * BEGIN { x = stringof(a); }
   */
  stringOfOther: (type: string): Message =>
    tagged("D_STRINGOF_TYPE", "type", `cannot apply stringof to a value of type ${type}`),
} as const;

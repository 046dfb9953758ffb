// The flags of a command as the parser hands them over, from the parameters of the request that
// they become: one name and one type for both.

/** `add_blockers` is `addBlockers`. */
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** A flag that is not given is absent, and none is null. */
export type FlagsOf<Fields> = {
  readonly [Name in keyof Fields & string as Camel<Name>]?: NonNullable<Fields[Name]>;
};

// The parsed flags of a command, with names and types derived from the parameters of its request.

/** Converts `add_blockers` to `addBlockers`. */
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** A flag that is not given is absent; none is null. */
export type FlagValues<Fields> = {
  readonly [Name in keyof Fields & string as Camel<Name>]?: NonNullable<Fields[Name]>;
};

// The files that an upload to a worker leaves out, and why.

/** Why the rules of names leave a path out. `secret`: the floor that no setting lifts. */
export type ExclusionReason = 'own' | 'secret' | 'dependency';

/** Something that stays here, and why. A folder that is left out whole ends with a slash. */
export interface LeftOut {
  readonly path: string;
  /** `ignored`: by a `.droverignore` file. */
  readonly reason:
    | ExclusionReason
    | 'ignored'
    | 'link'
    | 'special'
    | 'repository'
    | 'submodule'
    | 'name';
}

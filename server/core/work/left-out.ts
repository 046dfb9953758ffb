// Files that an upload to a worker omits, and the reason.

/** Why the name rules omit a path. `secret`: a built-in rule that no setting overrides. */
export type ExclusionReason = 'own' | 'secret' | 'dependency';

/**
 * An omitted file or folder, with the reason. The path of a folder that is omitted as a whole ends
 * with a slash.
 */
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

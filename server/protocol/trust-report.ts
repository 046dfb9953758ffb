// The programs and powers that a repository's settings name, as `drover trust` shows them.

export interface TrustReport {
  /** Everything that the repository's settings name counts here. */
  readonly accepted: boolean;
  readonly settings: readonly {
    readonly name: string;
    readonly shown: string;
    /**
     * `new`: the next `drover run` accepts it. `held`: an agent has landed it; it waits for `drover
     * trust`.
     */
    readonly state: 'accepted' | 'new' | 'held';
    readonly by: string | null;
  }[];
}

// The programs and other sensitive settings that a repository's settings name, for `drover trust`.

export interface TrustReport {
  /** Whether everything that the repository's settings name is accepted. */
  readonly accepted: boolean;
  readonly settings: readonly {
    readonly name: string;
    readonly shown: string;
    /**
     * `new`: the next `drover run` accepts it. `held`: an agent landed it, so it waits for `drover
     * trust`.
     */
    readonly state: 'accepted' | 'new' | 'held';
    readonly by: string | null;
  }[];
}

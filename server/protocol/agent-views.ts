// The views of its task and of the board that an agent gets.

export interface AgentBoardTask {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly epic: string | null;
  readonly parent: string | null;
  readonly blocked_by: readonly string[];
}

export interface AgentTask {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly type: string;
  readonly status: string;
  readonly epic: string | null;
  readonly parent: string | null;
  readonly acceptance_criteria: readonly string[];
  readonly attempt: number;
  readonly sub_tasks: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
  }[];
  /** Its blockers, current and former, with the outcome of each. */
  readonly blockers: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
    readonly result: string;
    readonly landed_sha: string | null;
  }[];
}

export interface AgentBoard {
  readonly counts: Readonly<Record<string, number>>;
  readonly tasks: readonly AgentBoardTask[];
  /** Tasks that are not listed, because there are too many. */
  readonly left_out: number;
}

export interface AgentAdded {
  readonly id: string;
  readonly status: string;
  /** How many more this attempt may add. */
  readonly left: number;
  readonly message: string;
}

export interface AgentAnswer {
  readonly question: string;
  /** `open`: not answered yet; the same request continues to wait. */
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly answer: string | null;
}

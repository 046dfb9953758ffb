// An agent's views of its task and of the board.

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
  /** Current and former blockers, with the outcome of each. */
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
  /** Number of tasks that are omitted because they are too many. */
  readonly left_out: number;
}

export interface AgentAdded {
  readonly id: string;
  readonly status: string;
  /** Number of tasks that this attempt may still add. */
  readonly left: number;
  readonly message: string;
}

export interface AgentAnswer {
  readonly question: string;
  /** `open`: not answered yet. While it is open, repeat the request to keep waiting. */
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly answer: string | null;
}

// What an agent may ask of the backend about its own attempt: the whole list. It is another one
// than that of people's clients, and goes over the same wire after a greeting with the token of the
// attempt.

type Nothing = Readonly<Record<string, never>>;

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
  /** What it waits for or has waited for, with what came of it. */
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
  /** `open`: nobody has answered yet; the same request again goes on waiting. */
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly answer: string | null;
}

export interface AgentRequests {
  /** The task itself, or one of those around it: its parent, its sub-tasks, its blockers. */
  readonly 'agent.task': { params: { id?: string }; result: AgentTask };
  readonly 'agent.board': { params: Nothing; result: AgentBoard };
  readonly 'agent.add': {
    params: {
      kind: string;
      title: string;
      description?: string;
      accept?: readonly string[];
      /** For a follow-up: what it waits for beside the agent's own task. */
      blocked_by?: readonly string[];
    };
    result: AgentAdded;
  };
  readonly 'agent.block': {
    params: { by: string; reason?: string };
    result: { message: string };
  };
  readonly 'agent.ask': {
    params: { text: string; choices?: readonly string[]; wait_ms?: number };
    result: AgentAnswer;
  };
  readonly 'agent.progress': { params: { text: string }; result: { message: string } };
}

export type AgentRequestName = keyof AgentRequests;
export type AgentParams<N extends AgentRequestName> = AgentRequests[N]['params'];
export type AgentResult<N extends AgentRequestName> = AgentRequests[N]['result'];

export type AgentHandlers = {
  readonly [N in AgentRequestName]: (params: AgentParams<N>) => Promise<AgentResult<N>>;
};

/** The calling end: one attempt's agent. */
export interface AgentClient {
  call<N extends AgentRequestName>(name: N, params: AgentParams<N>): Promise<AgentResult<N>>;
  close(): void;
}

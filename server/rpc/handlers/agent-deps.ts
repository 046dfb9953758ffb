// The outside dependencies of the tools of agents.

import type { Engine } from '../../workflows/kit/engine-ports.ts';

export interface AgentHandlerDeps {
  readonly engine: Engine;
  readonly settings: () => {
    readonly maxAttempts: number;
    readonly defaultLabels: readonly string[];
  };
}

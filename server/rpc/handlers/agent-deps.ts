// The external dependencies of the agents' tools.

import type { Engine } from '../../workflows/kit/engine-ports.ts';

export interface AgentHandlerDeps {
  readonly engine: Engine;
  readonly settings: () => {
    readonly maxAttempts: number;
    readonly defaultLabels: readonly string[];
  };
}

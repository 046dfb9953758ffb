// What the backend and its helper process say to each other. An id names one conversation: a git
// process, or an agent.

import type { AgentProcess } from '../../agents/port.ts';
import type { AgentExit, SpawnRequest } from '../../agents/kit/process/spawn.ts';
import type { GitOutput, GitRequest } from '../../git/process/run-once.ts';

export type ToHelper =
  /** Sent once for each environment, before the first process that runs in it. */
  | {
      readonly kind: 'environment';
      readonly number: number;
      readonly variables: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'git';
      readonly id: number;
      readonly environment: number;
      readonly request: Omit<GitRequest, 'environment'>;
    }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'agent'; readonly id: number; readonly request: SpawnRequest }
  | { readonly kind: 'release'; readonly id: number };

/** What belongs to a conversation. */
export type Heard =
  | { readonly kind: 'output'; readonly id: number; readonly output: GitOutput }
  | { readonly kind: 'started'; readonly id: number; readonly process: AgentProcess }
  | { readonly kind: 'exited'; readonly id: number; readonly exit: AgentExit }
  /** It could not even be tried. */
  | { readonly kind: 'threw'; readonly id: number; readonly message: string };

export type FromHelper = { readonly kind: 'ready' } | Heard;

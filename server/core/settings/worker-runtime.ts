// The options of `drover worker-runtime`, and what it prints once it listens.

import type { ListenAddress } from './listen-address.ts';

export interface WorkerRuntimeRequest {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null = use AGENT_ADDR, else PORT, else port 8080 on all addresses. */
  readonly listen: ListenAddress | null;
  /** Null = use `/workspace`, as the standard image does. */
  readonly workspace: string | null;
  /** Null = 500 MiB. */
  readonly uploadBytes: number | null;
  /** Null = run until a signal. */
  readonly lifetimeMs: number | null;
  readonly onListening: (listening: ListeningNote) => void;
  readonly warn: (sentence: string) => void;
}

export interface ListeningNote {
  readonly type: 'listening';
  readonly url: string;
  readonly workspace: string;
  readonly pid: number;
}

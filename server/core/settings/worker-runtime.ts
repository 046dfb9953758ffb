// The options of `drover worker-runtime`, and its output once it listens.

import type { ListenAddress } from './listen-address.ts';

export interface WorkerRuntimeRequest {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null uses AGENT_ADDR, else PORT, else port 8080 of every address. */
  readonly listen: ListenAddress | null;
  /** Null uses `/workspace`, as stock does. */
  readonly workspace: string | null;
  /** Null allows 500 MiB. */
  readonly uploadBytes: number | null;
  /** Null runs until a signal. */
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

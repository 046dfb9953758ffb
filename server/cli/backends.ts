// What the command asks of the composition: one object, so that tests bring a second implementation.

import type { Client } from '../protocol/api.ts';

/** `data`: a running backend, else the same handlers here. `engine`: started when there is none. `existing`: or null. */
export type BackendNeed = 'data' | 'engine' | 'existing';

export interface OpenClientOptions {
  readonly root: string;
  readonly need: BackendNeed;
  readonly env: NodeJS.ProcessEnv;
  /** What was given on the command line: wins over every other source of settings. */
  readonly settingsFlags: Record<string, unknown>;
}

export interface DoctorReport {
  readonly backend: {
    readonly running: boolean;
    readonly pid: number | null;
    readonly version: string | null;
  };
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly message: string;
  }[];
}

export interface Backends {
  readonly openClient: (options: OpenClientOptions) => Promise<Client | null>;
  readonly initProject: (
    root: string,
  ) => Promise<{ root: string; database: string; already: boolean }>;
  readonly findProject: (from: string) => string | null;
  readonly doctor: (root: string | null) => Promise<DoctorReport>;
  readonly runBackend: (options: {
    root: string;
    socket?: string;
    stdio?: boolean;
  }) => Promise<void>;
}

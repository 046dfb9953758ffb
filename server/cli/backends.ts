// The composition as the command sees it, in one object that tests replace.

import type { WorkerRuntimeRequest } from '../core/settings/worker-runtime.ts';
import type { SetupProposal } from '../core/work/gate-proposal.ts';
import type { Result } from '../core/failure.ts';
import type { Client } from '../protocol/api.ts';
import type { WorkerOptions } from '../protocol/worker-notes.ts';
import type { SpecPlanRequest, SpecPlanView } from '../protocol/spec-plan.ts';
import type { RemoteList, RemotePreview, RemoteTest } from '../protocol/remote-views.ts';
import type { RunningWeb, WebRequest } from '../protocol/web/wire.ts';
import type { TrustReport } from '../protocol/trust-report.ts';

/**
 * `data`: a running backend, else the same handlers in this process. `engine`: a backend, which is
 * started if none runs. `existing`: a running backend or null.
 */
export type BackendNeed = 'data' | 'engine' | 'existing';

export interface OpenClientOptions {
  readonly root: string;
  readonly need: BackendNeed;
  readonly env: NodeJS.ProcessEnv;
  /** Command-line flags, which override every other source of settings. */
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
  readonly agents: readonly {
    readonly kind: string;
    readonly found: boolean;
    readonly version: string | null;
    /** Null if only starting the agent could tell. */
    readonly signed_in: boolean | null;
    readonly path: string | null;
    readonly remedy: string | null;
    /** True if it failed or did not respond when asked for its version. */
    readonly broken?: true;
  }[];
  /** Set only with `--sandbox`. */
  readonly sandbox?: readonly { readonly probe: string; readonly stopped: boolean }[];
}

export interface PlanFromSpecOptions extends SpecPlanRequest {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onNote: (text: string) => void;
}

/** The SQLForge project that contains a folder. */
export interface SqlforgeProject {
  readonly folder: string;
  /** Its name of the default environment; null = a name that cannot be used. */
  readonly environment: string | null;
  /**
   * Resolves with the exit code. The output goes to the terminal; with `toStderr`, only to standard
   * error.
   */
  readonly run: (args: readonly string[], toStderr: boolean) => Promise<number>;
}

export interface MigrateRequest {
  readonly root: string;
  /** `to`: from the project's file to the URL. `from`: from the URL to the file. */
  readonly direction: 'to' | 'from';
  /** Null = use the environment. */
  readonly url: string | null;
  readonly env: NodeJS.ProcessEnv;
}

export interface MigrateReport {
  readonly from: string;
  readonly to: string;
  readonly rows: number;
  readonly tables: readonly {
    readonly table: string;
    readonly rows: number;
    readonly hash: string;
  }[];
}

export interface FleetDatabaseRequest {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface RemoteRequest {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Backends {
  /** Serves the page of this user's projects until it is closed. */
  readonly startWeb: (request: WebRequest) => Promise<RunningWeb>;
  readonly listRemote: (request: RemoteRequest) => Promise<RemoteList>;
  /** Creates no worker and sends nothing. */
  readonly previewRemote: (request: RemoteRequest) => Promise<RemotePreview>;
  /**
   * Creates a worker, waits for it and destroys it. `accept`: the fingerprint of the host key that
   * the user accepts.
   */
  readonly testRemote: (request: RemoteRequest, accept: string | null) => Promise<RemoteTest>;
  readonly destroyRemote: (
    request: RemoteRequest,
    name: string,
    force: boolean,
  ) => Promise<{ readonly name: string; readonly destroyed: true }>;
  readonly openClient: (options: OpenClientOptions) => Promise<Client | null>;
  /** Waits up to 30 s for a project's backend to exit. Resolves with whether it has. */
  readonly untilStopped: (root: string) => Promise<boolean>;
  readonly initProject: (
    root: string,
    env: NodeJS.ProcessEnv,
  ) => Promise<{
    root: string;
    database: string;
    already: boolean;
    warnings?: readonly string[];
    proposal?: SetupProposal | null;
  }>;
  readonly findProject: (from: string) => string | null;
  /**
   * The repository's sensitive settings. If `accept` is set, records that the user accepts them.
   */
  readonly trustSettings: (request: {
    readonly root: string;
    readonly env: NodeJS.ProcessEnv;
    readonly accept: boolean;
  }) => Promise<TrustReport>;
  /** Tries to break out of this project's sandbox on this machine. */
  readonly probeConfinement: (root: string) => Promise<NonNullable<DoctorReport['sandbox']>>;
  readonly doctor: (
    root: string | null,
    request?: { readonly remoteCommits: boolean; readonly forge: boolean },
  ) => Promise<DoctorReport>;
  /** Moves the whole project between its file and a PostgreSQL database. */
  readonly migrateProject: (request: MigrateRequest) => Promise<MigrateReport>;
  /** Turns a design into a plan for `import`. Writes nothing. */
  readonly planFromSpec: (options: PlanFromSpecOptions) => Promise<Result<SpecPlanView>>;
  readonly openSqlforge: (
    from: string,
    env: NodeJS.ProcessEnv,
  ) => Promise<SqlforgeProject> | SqlforgeProject;
  /** Resolves when it has ended, after a drain or after its tasks were released. */
  readonly runWorker: (wanted: WorkerOptions) => Promise<void>;
  /** Resolves when a signal or its lifetime has ended it. */
  readonly runWorkerRuntime: (request: WorkerRuntimeRequest) => Promise<void>;
  /** Migrates the fleet's database to this release, as its owner. */
  readonly prepareFleet: (request: FleetDatabaseRequest) => Promise<{ readonly database: string }>;
  /** Grants a role the privileges that a worker needs. Returns the statements in either case. */
  readonly grantFleet: (
    request: FleetDatabaseRequest & { readonly role: string; readonly execute: boolean },
  ) => Promise<{ readonly database: string; readonly statements: readonly string[] }>;
  readonly runBackend: (options: {
    root: string;
    socket?: string;
    stdio?: boolean;
    /** If true, the backend does not exit when idle. */
    staysIdle?: boolean;
  }) => Promise<void>;
}

// The external dependencies of requests about data.

import type { ChosenAgent, AgentSettingsByKind } from '../../core/settings/agent-settings.ts';
import type { RemoteSettings, RunPlace } from '../../core/settings/remote-settings.ts';
import type { TaskTemplates } from '../../core/exchange/templates.ts';
import type { Result } from '../../core/failure.ts';
import type { ConfigValueView, WorktreeSizes } from '../../protocol/api.ts';
import type { SandboxView, UnacceptedView } from '../../protocol/views.ts';
import type { ChangedFileView } from '../../protocol/panel-views.ts';
import type { AttemptLog } from '../../store/work/attempt-log.ts';
import type { Store } from '../../store/port.ts';
import type { Engine } from '../../workflows/kit/engine-ports.ts';

export interface DataHandlerDeps {
  readonly store: Store;
  /** Empty without a fleet. */
  readonly machineId: string;
  /** The current settings. */
  readonly settings: () => {
    readonly maxAttempts: number;
    readonly agent: ChosenAgent;
    readonly agents: AgentSettingsByKind;
    readonly defaultLabels: readonly string[];
    readonly runsOn: RunPlace;
    readonly remote: Pick<RemoteSettings, 'max' | 'labels'>;
    readonly fleet: { readonly takeOverAfterMs: number };
    readonly gate: { readonly needs: readonly string[] };
    readonly templates: TaskTemplates;
    readonly retention: { readonly notesMs: number };
    readonly land: { readonly target: string | null };
    readonly otel: { readonly project: string | null };
  };
  /** Every setting with its source, for clients. */
  readonly config: () => Readonly<Record<string, ConfigValueView>>;
  /** The sandbox of programs on this machine. */
  readonly sandbox?: () => Promise<SandboxView>;
  /** Settings of the repository that wait for a person's acceptance. */
  readonly unaccepted?: () => readonly UnacceptedView[];
  /** Stores an image of a description. Resolves with its name. */
  readonly keepAttachment: (content: Uint8Array) => Promise<string>;
  /** Folder of the attempts' logs. */
  readonly logs: string;
  readonly log: DataLog;
  readonly output: DataOutput;
  readonly git: DataGit;
  /** False in a command's own process, in which nothing runs whatever the rows say. */
  readonly hasBackend?: boolean;
  readonly worktrees: () => Promise<WorktreeSizes>;
}

export interface DataLogPage {
  /** Lines as stored. Clients get validated ones. */
  readonly events: readonly object[];
  readonly offset: number;
  readonly nextOffset: number;
  readonly size: number;
  readonly atEnd: boolean;
}

/** Reads the log of one part of an attempt by its path. */
export interface DataLog {
  read(
    path: string,
    options: { readonly fromOffset: number; readonly limit: number; readonly bytesMax: number },
  ): DataLogPage;
  readBefore(
    path: string,
    options: { readonly before: number; readonly limit: number; readonly bytesMax: number },
  ): DataLogPage;
  /**
   * The first line that contains all words (in lower case). Returns null if no line does, or if the
   * log does not exist.
   */
  find(path: string, words: readonly string[]): Promise<DataFoundLine | null>;
  /** Calls back when the log has grown. Returns a function that unsubscribes. */
  onGrowth(path: string, listener: () => void): () => void;
}

/** A log line found by a search. */
export interface DataFoundLine {
  /** Offset of its first byte in the log. */
  readonly offset: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly type: string;
  readonly excerpt: string;
}

/** Logs of attempts that run on other machines of a fleet. */
export interface DataOutput {
  /** Copies the stored part of the log to this disk. Refuses if none of it is kept any more. */
  beforeRead(log: AttemptLog): Promise<void>;
  /** For each log of another machine, the line that contains all words, by file. */
  find(
    logs: readonly { readonly file: string; readonly machine: string }[],
    words: readonly string[],
  ): Promise<ReadonlyMap<string, DataFoundLine>>;
  /** Calls back when more output can be copied here. Returns a function that unsubscribes. */
  onNews(log: AttemptLog, listener: () => void): () => void;
}

/** Read-only git queries. */
export interface DataGit {
  readonly facts: { readonly root: string; readonly headBranch: string | null };
  readRef(ref: string): Promise<string | null>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
  readonly sharedRemote: Engine['git']['sharedRemote'];
  resolve(revision: string): Promise<Result<string, { readonly message: string }>>;
  diff(from: string, to: string): Promise<Result<string, { readonly message: string }>>;
  readonly listSnapshots: Engine['git']['listSnapshots'];
  readonly sizeOfChange: Engine['git']['sizeOfChange'];
  changedFiles(
    from: string,
    to: string,
  ): Promise<Result<readonly DataChangedFile[], { readonly message: string }>>;
  fileAt(
    commit: string,
    path: string,
    bytesMax: number,
  ): Promise<
    Result<
      { readonly size: number; readonly bytes: Uint8Array | null } | null,
      { readonly message: string }
    >
  >;
  /** Creates an unreferenced commit, the same as a landing would create. */
  merge(request: {
    readonly tip: string;
    readonly commit: string;
    readonly subject: string;
    readonly trailers: readonly string[];
  }): Promise<Result<DataMerge, { readonly message: string }>>;
}

export type DataMerge =
  | { readonly kind: 'merged'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export interface DataChangedFile {
  readonly path: string;
  readonly oldPath: string | null;
  readonly status: ChangedFileView['status'];
}

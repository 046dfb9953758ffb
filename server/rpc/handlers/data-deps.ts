// The outside dependencies of the requests about data.

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
  /** Settings as they are now. */
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
  /** Every setting with its source, as clients see it. */
  readonly config: () => Readonly<Record<string, ConfigValueView>>;
  /** The sandbox of programs on this machine. */
  readonly sandbox?: () => Promise<SandboxView>;
  /** Settings of the repository that wait for a person's word. */
  readonly unaccepted?: () => readonly UnacceptedView[];
  /** Keeps an image of a description, and resolves with its name. */
  readonly keepAttachment: (content: Uint8Array) => Promise<string>;
  /** Folder of the attempts' logs. */
  readonly logs: string;
  readonly log: DataLog;
  readonly output: DataOutput;
  readonly git: DataGit;
  /** False in a command's own process: nothing runs then, whatever the rows say. */
  readonly hasBackend?: boolean;
  readonly worktrees: () => Promise<WorktreeSizes>;
}

export interface DataLogPage {
  /** Lines as they are stored; clients get checked ones. */
  readonly events: readonly object[];
  readonly offset: number;
  readonly nextOffset: number;
  readonly size: number;
  readonly atEnd: boolean;
}

/** The log of one part of an attempt, by its path. */
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
   * The first line that contains all words (in lower case). Returns null if no line does, or the
   * log does not exist.
   */
  find(path: string, words: readonly string[]): Promise<DataFoundLine | null>;
  /** Calls back when more has been written; returns unsubscribe. */
  onGrowth(path: string, listener: () => void): () => void;
}

/** A line of a log that a search has found. */
export interface DataFoundLine {
  /** The offset in the log at which it starts. */
  readonly offset: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly type: string;
  readonly excerpt: string;
}

/** Logs of attempts that other machines of a fleet work on. */
export interface DataOutput {
  /**
   * Brings the stored part of the log onto this disk. Refuses if nothing of it is kept any more.
   */
  beforeRead(log: AttemptLog): Promise<void>;
  /** Keyed by file: the line of each log of another machine that has all words. */
  find(
    logs: readonly { readonly file: string; readonly machine: string }[],
    words: readonly string[],
  ): Promise<ReadonlyMap<string, DataFoundLine>>;
  /** Calls back when there is more to bring here; returns unsubscribe. */
  onNews(log: AttemptLog, listener: () => void): () => void;
}

/** The read-only queries to git. */
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
  /** Makes an unreferenced commit, equal to the one that a landing would make. */
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

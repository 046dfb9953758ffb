// All requests of one project: those answered from the database, and those that need the engine.

import { statfsSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readLog, readLogBefore } from '../agents/event-log-reader.ts';
import { onLogGrowth } from '../agents/log-growth.ts';
import { Refusal } from '../core/failure.ts';
import { shownSettings } from '../core/settings-resolve.ts';
import type { Answer, WorktreeView } from '../protocol/api.ts';
import { createDataHandlers } from '../rpc/handlers/data.ts';
import { createEngineHandlers } from '../rpc/handlers/engine.ts';
import type { Feed } from '../rpc/transport/feed.ts';
import type { RequestHandlers } from '../rpc/transport/local.ts';
import type { Store } from '../store/port.ts';
import { activeRuns } from '../workflows/start-run.ts';
import { listWorktrees, pruneWorktrees, type WorktreeFacts } from '../workflows/worktrees.ts';
import { type EngineHost, maskOf, type Project } from './compose.ts';
import { type SettingFlags } from './live-settings.ts';
import { maskingHandlers } from './mask-words.ts';
import { specHandlers } from './spec-handlers.ts';

export function feedOf(store: Store): Feed {
  return {
    read: (after, limit) => store.feed.read({ after, limit }),
    onAppend: (listener) => store.feed.onAppend(listener),
    lastSeq: () => store.feed.lastSeq(),
  };
}

function dataHandlers(
  project: Project,
  hasBackend: boolean,
): ReturnType<typeof createDataHandlers> {
  return createDataHandlers({
    store: project.store,
    settings: () => project.live.settings,
    config: () => shownSettings(project.live.loaded),
    log: { read: readLog, readBefore: readLogBefore, onGrowth: onLogGrowth },
    logs: project.places.logs,
    output: project.output,
    hasBackend,
    git: project.git,
    worktrees: async () => (await listWorktrees(worktreeParts(project))).map(worktreeView),
  });
}

/** What a command can serve by itself; the rest says that the backend is needed. */
export function dataOnlyHandlers(project: Project): RequestHandlers {
  const refuse = async (): Promise<never> => {
    throw new Refusal('backend', 'this needs the backend, and none is running here');
  };
  const handlers: RequestHandlers = {
    'run.start': refuse,
    'run.resume': refuse,
    'run.stop': refuse,
    'task.pause': refuse,
    'task.unpause': refuse,
    'task.cancel': refuse,
    'task.retry': refuse,
    'task.hint': refuse,
    'task.resolve': refuse,
    'task.send_back': refuse,
    approve: refuse,
    answer: refuse,
    reset: refuse,
    'worktree.prune': refuse,
    shutdown: refuse,
    preflight: refuse,
    'task.take_over': refuse,
    'task.give_back': refuse,
    'landing.undo': refuse,
    'backend.leave': refuse,
    'spec.plan': refuse,
    'spec.cancel': refuse,
    ...dataHandlers(project, false),
  };
  return maskingHandlers(handlers, () => maskOf(project.live));
}

export interface BackendControl {
  readonly onShutdown: (force: boolean) => Promise<{ leaving: boolean; reason: string }>;
}

export function allHandlers(
  project: Project,
  host: EngineHost,
  control: BackendControl,
): RequestHandlers {
  const data = dataHandlers(project, true);
  const engine = createEngineHandlers({
    engine: host.engine,
    taskView: (id) => data['task.show']({ id }),
    epicView: (id) => data['epic.show']({ id }),
    configure: async (env, flags) => {
      await project.live.reload(env ?? project.live.environment, flags as SettingFlags);
      const { settings, warnings } = project.live.loaded;
      const later = [
        ...(settings.fleetDatabaseUrl === null || project.fleet !== null
          ? []
          : [
              'DBOS_SYSTEM_DATABASE_URL is set, but the backend that is at work began without it: it is not used. End it with "drover server stop", then run again.',
            ]),
        ...(settings.otel.enabled
          ? ['DROVER_OTEL_ENABLED is set, but this version sends no telemetry: it is not used.']
          : []),
      ];
      return [...warnings.map((warning) => warning.message), ...later];
    },
    pruneWorktrees: async (options): Promise<Answer<'worktree.prune'>> => {
      const wish = { dryRun: options.dry_run === true, force: options.force === true };
      return (await pruneWorktrees(worktreeParts(project), wish)).map(worktreeView);
    },
    freeBytes: () => freeBytesAt(project.places.root),
    shutdown: (force) => control.onShutdown(force),
  });
  const fresh = freshly({ ...data, ...engine }, async () => {
    // The settings of a run that is at work stay what they were at its beginning, but for its bounds.
    if ((await activeRuns(host.engine)).length === 0) return project.live.refresh();
    await project.live.refreshBounds();
    host.engine.switchboard.wake();
  });
  return maskingHandlers({ ...data, ...engine, ...fresh, ...specHandlers(project) }, () =>
    maskOf(project.live),
  );
}

type Data = ReturnType<typeof createDataHandlers> & ReturnType<typeof createEngineHandlers>;

/** Requests whose answer depends on settings: the files are looked at before. */
function freshly(
  data: Data,
  refresh: () => Promise<void>,
): Pick<Data, 'status' | 'why' | 'task.add' | 'import' | 'task.retry' | 'run.start'> {
  return {
    status: async (params) => refresh().then(() => data.status(params)),
    why: async (params) => refresh().then(() => data.why(params)),
    'task.add': async (params) => refresh().then(() => data['task.add'](params)),
    import: async (params) => refresh().then(() => data.import(params)),
    'task.retry': async (params) => refresh().then(() => data['task.retry'](params)),
    'run.start': async (params) => refresh().then(() => data['run.start'](params)),
  };
}

/** Worktrees lie beside the repository, if not told otherwise. */
function freeBytesAt(root: string): number | null {
  try {
    const stats = statfsSync(dirname(root));
    return stats.bavail * stats.bsize;
  } catch {
    return null;
  }
}

function worktreeParts(project: Project): Parameters<typeof listWorktrees>[0] {
  const { machineId, store, git } = project;
  return { machineId, store, git, sizeOf };
}

function worktreeView(facts: WorktreeFacts): WorktreeView {
  return {
    path: facts.path,
    task_id: facts.taskId,
    branch: facts.branch,
    status: facts.status,
    reason: facts.reason,
    unmerged_commits: facts.unmergedCommits,
    dirty: facts.dirty,
    size_bytes: facts.sizeBytes,
    action: facts.action,
  };
}

/** Files looked at before a size is given as "at least". */
const filesMax = 200_000;

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  let files = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && files < filesMax; next = folders.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        const path = join(next, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else {
          files += 1;
          bytes += (await lstat(path)).size;
        }
      }
    } catch {
      // Gone meanwhile, or not ours to read: the size is of what can be seen.
    }
  }
  return bytes;
}

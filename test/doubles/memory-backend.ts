// An in-memory backend: handlers over a few maps and a feed, and the `Backends` that return them. A
// test overrides the handlers that it needs and checks the calls.

import type { Backends, OpenClientOptions } from '../../server/cli/backends.ts';
import { err, failure, Refusal } from '../../server/core/failure.ts';
import type {
  Answer,
  Client,
  EpicView,
  Params,
  RequestName,
  RunView,
  StatusSnapshot,
  TaskView,
} from '../../server/protocol/api.ts';
import { localClient, type RequestHandlers } from '../../server/rpc/transport/local.ts';
import { memoryFeed, type MemoryFeed } from './memory-feed.ts';
import { epicView, runView, snapshotOf, taskView } from './views.ts';

type Overrides = {
  [N in keyof RequestHandlers]?: (params: Params<N>) => Answer<N> | Promise<Answer<N>>;
};

const servedNames = [
  'status',
  'epic.add',
  'epic.list',
  'epic.show',
  'epic.edit',
  'epic.close',
  'epic.pull',
  'epic.reply',
  'epic.switch',
  'task.add',
  'task.edit',
  'task.show',
  'attachment.add',
  'import',
  'issues.plan',
  'export',
  'why',
  'log.read',
  'log.prompt',
  'events.read',
  'attempts',
  'diff',
  'questions',
  'machines.list',
  'machines.drain',
  'line.release',
  'run.start',
  'run.resume',
  'run.stop',
  'task.pause',
  'task.unpause',
  'task.cancel',
  'task.retry',
  'task.hint',
  'task.resolve',
  'task.restore',
  'task.send_back',
  'approve',
  'answer',
  'undo',
  'target.follow',
  'reset',
  'worktree.list',
  'worktree.sizes',
  'worktree.prune',
  'shutdown',
  'snapshots',
  'report',
  'transcripts.search',
  'past.status',
  'trace.export',
  'metrics',
  'prune',
  'webhooks.list',
  'webhooks.test',
  'webhooks.retry',
  'review.show',
  'review.overrule',
  'notes.list',
  'notes.add',
  'notes.keep',
  'notes.drop',
] as const satisfies readonly (keyof RequestHandlers)[];

type ServedName = (typeof servedNames)[number];

export interface MemoryBackend {
  readonly feed: MemoryFeed;
  readonly handlers: RequestHandlers;
  readonly backends: Backends;
  /** Every request in order: name and parameters. */
  readonly calls: { readonly name: RequestName; readonly params: unknown }[];
  /** Resolves once the request of that name has been answered for the first time. */
  answered(name: RequestName): Promise<void>;
  readonly opened: OpenClientOptions[];
  readonly tasks: Map<string, TaskView>;
  readonly epics: Map<string, EpicView>;
  run: RunView | null;
  /** The answer to `status`. */
  snapshot(): StatusSnapshot;
  setTask(task: Partial<TaskView> & { readonly id: string }): void;
}

export function memoryBackend(
  overrides: Overrides = {},
  backendOverrides: Partial<Backends> = {},
): MemoryBackend {
  const feed = memoryFeed();
  const calls: MemoryBackend['calls'] = [];
  const answers = new Map<RequestName, PromiseWithResolvers<void>>();
  const answerOf = (name: RequestName): PromiseWithResolvers<void> => {
    const answer = answers.get(name) ?? Promise.withResolvers<void>();
    answers.set(name, answer);
    return answer;
  };
  const opened: OpenClientOptions[] = [];
  const tasks = new Map<string, TaskView>();
  const epics = new Map<string, EpicView>();
  const own: Overrides = {
    ...planHandlers(tasks, epics),
    attempts: () => [],
    'attachment.add': () => ({ name: `${'0'.repeat(64)}.gif` }),
    status: ({ epic }) => {
      const snapshot = world.snapshot();
      if (epic === undefined) return snapshot;
      const inside = snapshot.tasks.filter((task) => task.epic_id === epic);
      return snapshotOf(inside, { ...snapshot, tasks: inside });
    },
    'events.read': ({ after = 0, type, task, limit = 1000 }) => ({
      events: feed.events
        .filter((event) => event.seq > after)
        .filter((event) => type === undefined || event.type === type)
        .filter((event) => task === undefined || event.task_id === task)
        .slice(0, limit),
      seq: feed.events.length,
    }),
    'run.start': ({ workers = 3, epic = null, land = epic === null ? 'task' : 'epic' }) => {
      world.run = runView({ workers, epic_id: epic, land });
      const after = feed.events.length;
      return { run: world.run, joined: false, message: '', warnings: [], after };
    },
    ...overrides,
  };
  const answer = async (name: ServedName, params: unknown): Promise<unknown> => {
    calls.push({ name, params });
    const handler = own[name] as ((params: unknown) => unknown) | undefined;
    if (handler === undefined) throw new Refusal('unknown_id', `The double has no ${name}.`);
    const given = await handler(params);
    answerOf(name).resolve();
    return given;
  };
  const handlers = Object.fromEntries(
    servedNames.map((name) => [name, (params: unknown) => answer(name, params)]),
  ) as unknown as RequestHandlers;
  const world: MemoryBackend = {
    feed,
    handlers,
    calls,
    answered: (name) => answerOf(name).promise,
    opened,
    tasks,
    epics,
    run: null,
    snapshot: () =>
      snapshotOf([...tasks.values()], {
        seq: feed.events.length,
        run: world.run,
        epics: [...epics.values()].map((epic) => {
          const { counts, progress } = epicView({ id: epic.id }, [...tasks.values()]);
          return { ...epic, counts, progress };
        }),
      }),
    setTask: (task) => {
      tasks.set(task.id, taskView({ ...tasks.get(task.id), ...task }));
    },
    backends: {
      untilStopped: async () => true,
      openClient: async (options) => {
        opened.push(options);
        return localClient(handlers, feed);
      },
      initProject: async (root) => ({
        root,
        database: `${root}/.drover/drover.db`,
        already: false,
      }),
      findProject: (from) => from,
      probeConfinement: async () => [{ probe: 'read another worktree', stopped: true }],
      listRemote: async () => ({ provisioner: null, workers: [], problems: [] }),
      previewRemote: async () => ({
        provisioner: null,
        files: 0,
        bytes: 0,
        largest: [],
        secrets: [],
        notices: [],
        folders: [],
        folders_more: 0,
        left_out: [],
        left_out_more: 0,
        env: [],
        refused: null,
      }),
      testRemote: async () => ({
        provisioner: 'process',
        ok: true,
        message: '',
        host_key: null,
        ms: 1,
      }),
      destroyRemote: async (_request, name) => ({ name, destroyed: true }),
      trustSettings: async () => ({ accepted: true, settings: [] }),
      doctor: async () => ({
        backend: { running: false, pid: null, version: null },
        checks: [],
        agents: [],
      }),
      startWeb: async () => ({
        newLink: () => 'http://127.0.0.1:1/#token=t',
        close: async () => {},
      }),
      runBackend: async () => {},
      runWorker: async () => {},
      runWorkerRuntime: async () => {},
      prepareFleet: async () => ({ database: 'there' }),
      grantFleet: async () => ({ database: 'there', statements: [] }),
      openSqlforge: () => {
        throw new Refusal('not_found', 'There is no SQLForge here.');
      },
      migrateProject: async ({ url }) => ({
        from: 'here',
        to: url ?? 'there',
        rows: 0,
        tables: [],
      }),
      planFromSpec: async () => err(failure('agent_failed', 'There is no model here.')),
      ...backendOverrides,
    },
  };
  return world;
}

function planHandlers(tasks: Map<string, TaskView>, epics: Map<string, EpicView>): Overrides {
  const known = (id: string): TaskView => {
    const task = tasks.get(id);
    if (task === undefined) throw new Refusal('unknown_id', `There is no task ${id}.`);
    return task;
  };
  return {
    'task.add': ({ title, parent, epic }) => {
      const task = taskView({
        id: `task-${tasks.size + 1}`,
        title,
        parent_id: parent ?? null,
        epic_id: epic ?? null,
        warnings: title.length < 4 ? ['The title is short.'] : [],
      });
      tasks.set(task.id, task);
      return task;
    },
    'task.edit': ({ id, title }) => {
      const task = { ...known(id), ...(title !== undefined && { title }) };
      tasks.set(id, task);
      return task;
    },
    'task.show': ({ id }) => known(id),
    'epic.add': ({ title, description = '' }) => {
      const epic = epicView({ id: `epic-${epics.size + 1}`, title, description });
      epics.set(epic.id, epic);
      return epic;
    },
    'epic.list': () => [...epics.values()],
  };
}

/** For tests that need only the client. */
export function memoryClient(backend: MemoryBackend): Client {
  return localClient(backend.handlers, backend.feed);
}

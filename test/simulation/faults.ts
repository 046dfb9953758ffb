// Planted faults: each makes the product wrong in one known way, so that a test can show that it
// would be found. They are wrapped around ports, or change the effect of a database statement; the
// product's code does not contain them.

import type { CompiledQuery, QueryResult } from 'kysely';
import { err } from '../../server/core/failure.ts';
import type { GitRepository } from '../../server/git/port.ts';
import type { Store } from '../../server/store/port.ts';
import { gitFailure } from '../doubles/simulated-git.ts';
import { crossed, type Scenario } from './scenario.ts';
import type { Invariant, World } from './world.ts';
import type { EngineDeps } from '../../server/workflows/kit/engine-ports.ts';

export type Rows = QueryResult<unknown>;

export interface Faults {
  /** Makes the conditions of the fault more frequent. */
  scenario(drawn: Scenario): Scenario;
  store(store: Store, world: World): Store;
  parts(parts: EngineDeps, world: World): EngineDeps;
  query(query: CompiledQuery, run: (query: CompiledQuery) => Promise<Rows>): Promise<Rows>;
}

export const noFaults: Faults = {
  scenario: (drawn) => drawn,
  store: (store) => store,
  parts: (parts) => parts,
  query: (query, run) => run(query),
};

const nothing: Rows = { rows: [] };

interface PlantedFault {
  /**
   * A seed that finds it, which is tried first. Changes to the product can invalidate it; then the
   * test reports which seed finds it now.
   */
  readonly seed?: number;
  /** Invariants that it breaks, any of which may be detected first. */
  readonly breaks: readonly Invariant[];
  readonly make: () => Partial<Faults>;
  readonly often?: Partial<Scenario>;
}

/** Replaces the answer of a matching statement. */
function answering(pattern: RegExp, answer: (real: Rows) => Rows): Partial<Faults> {
  return {
    query: async (query, run) => {
      const real = await run(query);
      return pattern.test(query.sql) ? answer(real) : real;
    },
  };
}

/** Executes another statement instead of a matching one. */
function rewriting(pattern: RegExp, text: string): Partial<Faults> {
  return {
    query: (query, run) => run({ ...query, sql: query.sql.replace(pattern, text) }),
  };
}

function withGit(
  change: (git: GitRepository, world: World) => Partial<GitRepository>,
): Partial<Faults> {
  return {
    parts: (parts, world) => {
      const { git } = parts;
      const changed: Partial<GitRepository> = change(git, world);
      const proxy = new Proxy(git, {
        get: (target, name) => {
          const own = (changed as { [name: PropertyKey]: unknown })[name];
          if (own !== undefined) return own;
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      return { ...parts, git: proxy };
    },
  };
}

/** Long enough that other gates start early. */
const longGates = { gateLongestMs: 15_000 } as const;

export const plantedFaults: { readonly [name: string]: PlantedFault } = {
  'claim-without-blockers': {
    seed: 1,
    breaks: ['base', 'feed'],
    // Neither the claim nor the choice of a base, which checks again, sees an open blocker.
    make: () => ({
      query: async (query, run) => {
        const real = await run(query);
        if (/join "tasks" as "b".*"b"\."status" != /.test(query.sql)) return nothing;
        if (!/^select "b"\."id".* from "task_dependencies" as "d"/.test(query.sql)) return real;
        return {
          rows: real.rows.filter((row) => (row as { status: string }).status === 'completed'),
        };
      },
    }),
  },
  'skip-step-fence': {
    seed: 542,
    often: { standsStill: 15, latencyMaxMs: 400 },
    breaks: ['run-again', 'one-agent', 'feed', 'landed-once', 'unexpected', 'work-kept', 'stuck'],
    make: () =>
      rewriting(
        /(from workflows\s+where id = \?) and owner = \? and epoch = \?/,
        '$1 and (1 or owner = ? or epoch = ?)',
      ),
  },
  'forget-a-step': {
    seed: 25,
    often: { crashes: 6 },
    breaks: ['run-again', 'one-agent'],
    make: () =>
      answering(/select workflow_id, name, output from workflow_steps/, (real) => ({
        rows: real.rows.filter((row) => !(row as { name: string }).name.startsWith('agent_done')),
      })),
  },
  'move-without-compare': {
    seed: 59,
    often: { personEveryMs: 250, latencyMaxMs: 400 },
    breaks: ['landed-once', 'work-kept'],
    make: () =>
      withGit((git, world) => ({
        updateRef: (ref, next, _old, reason) =>
          git.updateRef(ref, next, world.repository.refs.get(ref) ?? null, reason),
      })),
  },
  'land-untested': {
    seed: 1,
    breaks: ['tested-tree'],
    make: () => ({
      parts: (parts) => ({
        ...parts,
        commands: {
          run: (request, signal) =>
            request.command === 'gate'
              ? Promise.resolve({
                  kind: 'exited',
                  exitCode: 0,
                  durationMs: 1,
                  tail: '',
                  telling: [],
                })
              : parts.commands.run(request, signal),
        },
      }),
    }),
  },
  'verdict-of-another-tree': {
    seed: 1,
    breaks: ['tested-tree'],
    make: () =>
      rewriting(/(from "gate_verdicts" where) "tree_sha" = \?/, '$1 (1 or "tree_sha" = ?)'),
  },
  'keep-the-verdict-of-what-was-rebuilt': {
    seed: 19,
    often: { personEveryMs: 600, ...longGates },
    breaks: ['tested-tree'],
    // Work that is merged again without the work before it is recognized by the tree of the first
    // time.
    make: () => {
      const trees = new Map<string, string>();
      return withGit((git) => ({
        merge: async (request) => {
          const merged = await git.merge(request);
          if (!merged.ok || merged.value.kind !== 'merged') return merged;
          const tree = trees.get(request.commit) ?? merged.value.tree;
          trees.set(request.commit, tree);
          return { ok: true, value: { ...merged.value, tree } };
        },
      }));
    },
  },
  'count-a-flaky-gate-as-green': {
    seed: 43,
    often: { flakyShare: 50, ...longGates },
    breaks: ['tested-tree'],
    make: () => ({
      store: (store) => ({
        ...store,
        append: (tx, event) =>
          store.append(
            tx,
            event.type === 'gate.passed'
              ? { ...event, data: { ...event.data, flaky: false } }
              : event,
          ),
      }),
    }),
  },
  'lease-a-slot-twice': {
    seed: 1,
    breaks: ['one-agent', 'tested-tree', 'work-kept'],
    make: () =>
      answering(/from "slots" where "machine" = \? and "kind" = \? order by/, (real) => ({
        rows: real.rows.map((row) => ({ ...(row as object), task_id: null })),
      })),
  },
  'drop-an-event': {
    seed: 4,
    breaks: ['feed'],
    make: () => {
      let count = 0;
      return {
        query: (query, run) => {
          if (!query.sql.startsWith('insert into "events"')) return run(query);
          count += 1;
          return count % 25 === 0 ? Promise.resolve({ rows: [{ seq: 0 }] }) : run(query);
        },
      };
    },
  },
  'lose-a-wake-up': {
    seed: 2,
    often: { moodShare: 100 },
    breaks: ['stuck'],
    make: () => answering(/"waiting_until_ms" <= \?/, () => nothing),
  },
  'delete-a-branch-early': {
    seed: 1,
    breaks: ['work-kept'],
    make: () =>
      withGit((git, world) => ({
        commitLeftovers: async (request) => {
          const done = await git.commitLeftovers(request);
          const ref = `refs/heads/${request.branch}`;
          const old = world.repository.refs.get(ref) ?? null;
          const worktree = world.repository.worktrees.get(request.path);
          if (old === null || worktree === undefined || !done.ok) return done;
          world.repository.switchTo(request.path, null, request.base, false);
          world.repository.moveRefs([{ ref, next: null, old }], 'drover', 'tidy up');
          return done;
        },
      })),
  },
  'empty-without-snapshot': {
    seed: 54,
    breaks: ['work-kept'],
    make: () =>
      withGit((git, world) => ({
        prepareSlot: (request) => {
          const { repository } = world;
          const worktree = repository.worktrees.get(request.path);
          const head = worktree === undefined ? null : repository.headOf(worktree);
          if (worktree !== undefined && head !== null && !request.keepBranch)
            repository.replaceFiles(worktree, repository.objects.filesOf(head));
          return git.prepareSlot(request);
        },
      })),
  },
  'build-on-what-planned': {
    seed: 107,
    // On top of its own older work, it conflicts with the landed work each time.
    breaks: ['plan-lands', 'stuck'],
    make: () => ({
      scenario: (drawn) => ({
        ...drawn,
        tasks: drawn.tasks.map((task) => ({ ...task, plan: true })),
      }),
      ...withGit((git, { repository }) => ({
        prepareSlot: (request) => {
          const branch = request.branch ?? '';
          const number = Number(/\/(\d+)$/.exec(branch)?.[1] ?? '1');
          const before = branch.replace(/\d+$/, String(number - 1));
          const left = repository.refs.get(`refs/heads/${before}`);
          return git.prepareSlot({ ...request, sha: left ?? request.sha });
        },
      })),
    }),
  },
  'start-twice-after-a-death': {
    seed: 17,
    breaks: ['one-agent'],
    make: () => ({
      parts: (parts) => ({
        ...parts,
        processes: {
          isAlive: (process) => parts.processes.isAlive(process),
          endOrphansIn: (path, agent) => parts.processes.endOrphansIn(path, agent),
          standStill: (runId, agent) => parts.processes.standStill(runId, agent),
          goOn: (runId, agent) => parts.processes.goOn(runId, agent),
          endTree: () => Promise.resolve({ ended: 0, left: 0 }),
        },
        driverFor: (kind) => {
          const driver = parts.driverFor(kind);
          const { capabilities } = driver;
          return {
            kind: driver.kind,
            capabilities: { ...capabilities, adopt: false },
            probe: (env) => driver.probe(env),
            run: (request, host, signal) => driver.run(request, host, signal),
            adopt: () => Promise.resolve(null),
          };
        },
      }),
    }),
  },
  'swallow-a-cancel': {
    seed: 8,
    breaks: ['swallowed'],
    make: () => ({
      store: (store) => ({
        ...store,
        transition: (tx, change) =>
          store.transition(
            tx,
            change.event === 'task.cancelled' && change.epoch !== undefined
              ? { ...change, to: 'ready', event: 'task.returned' }
              : change,
          ),
      }),
    }),
  },
  'force-the-checkout': {
    seed: 60,
    // The branch must move between the check and the follow.
    often: { personEveryMs: 250, latencyMaxMs: 400 },
    breaks: ['not-ours'],
    make: () =>
      withGit((git, world) => ({
        follow: async (target, tip, mode, seen) => {
          const followed = await git.follow(target, tip, mode, seen);
          if (!followed.ok || followed.value.kind === 'followed') return followed;
          const old = world.repository.refs.get(target) ?? null;
          world.repository.moveRefs([{ ref: target, next: tip, old }], 'drover', 'drover: follow');
          return { ok: true, value: { kind: 'followed', sha: tip } };
        },
      })),
  },
  'never-follow': {
    seed: 1,
    breaks: ['stuck'],
    make: () =>
      withGit(() => ({
        follow: () => Promise.resolve(err(gitFailure('failed', 'it does not follow'))),
      })),
  },
  'wait-for-who-waits': {
    seed: 17,
    breaks: ['stuck'],
    make: () => ({
      scenario: crossed,
      ...rewriting(
        /(as "n" from "tasks" where "parent_id" is null .*)"id" not in \(select coalesce/s,
        `$1'' not in (select coalesce`,
      ),
    }),
  },
  'forget-the-past': {
    seed: 2,
    breaks: ['past'],
    make: () => ({
      store: (store, world) => {
        world.database.exec('drop trigger if exists temp.past_of_attempts');
        return store;
      },
    }),
  },
};

export const faultNames: readonly string[] = Object.keys(plantedFaults);

export function faultNamed(name: string | null): Faults {
  const planted = name === null ? undefined : plantedFaults[name];
  if (planted === undefined) return noFaults;
  return { ...noFaults, scenario: (drawn) => ({ ...drawn, ...planted.often }), ...planted.make() };
}

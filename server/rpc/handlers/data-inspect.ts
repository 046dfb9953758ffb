// Requests that inspect the state: the snapshot, the feed, questions, worktrees, why a task is not
// running, and the machines with orders to them.

import { isHandedOver } from '../../core/plan/task.ts';
import { whyNoLander } from '../../core/work/landers.ts';
import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { agentChoices } from '../../core/settings/agent-settings.ts';
import { pickPlaceRules } from '../../core/settings/remote-settings.ts';
import type {
  MachineView,
  SandboxView,
  StatusSnapshot,
  TaskView,
  UnacceptedView,
} from '../../protocol/views.ts';
import type { Handlers } from '../../protocol/api.ts';
import { Refusal } from '../../core/failure.ts';
import {
  allLines,
  keptCommits,
  liveMachines,
  readLine,
  taskById,
  textList,
} from '../../store/port.ts';
import { orderDrain, orderRelease } from '../../store/fleet/machine-orders.ts';
import { readMachines } from '../../store/fleet/machine-views.ts';
import { readAtOneMoment } from '../../store/rows/one-moment.ts';
import { openQuestions, readSnapshot, type SnapshotExtras } from '../../store/board/snapshot.ts';
import { why } from '../../store/why/why.ts';
import type { LostRefs } from '../../store/why/why-phrases.ts';
import type { DataHandlerDeps } from './data-deps.ts';

type InspectRequests =
  | 'status'
  | 'why'
  | 'events.read'
  | 'questions'
  | 'machines.list'
  | 'machines.drain'
  | 'line.release'
  | 'worktree.list'
  | 'worktree.sizes';

const eventsDefault = 1_000;
const eventsMax = 10_000;

export function snapshotExtras(deps: DataHandlerDeps): SnapshotExtras {
  return {
    config: () => deps.config(),
    targetBranch: deps.settings().land.target ?? deps.git.facts.headBranch,
    shaOf: (branch) => tipOf(deps, branch),
  };
}

/**
 * Adds each running agent's sandbox to its task. Returns the tasks unchanged if this backend runs
 * no agents.
 */
export async function withSandboxes(
  deps: DataHandlerDeps,
  tasks: readonly TaskView[],
): Promise<{ readonly tasks: readonly TaskView[]; readonly sandbox?: SandboxView }> {
  const sandbox = await deps.sandbox?.();
  if (sandbox === undefined) return { tasks };
  return { sandbox, tasks: tasks.map((task) => ({ ...task, sandbox: sandboxOf(task, sandbox) })) };
}

/** Returns null if no agent runs. On a worker, the worker itself is the sandbox. */
function sandboxOf(task: TaskView, { holds }: SandboxView): 'worker' | SandboxView['holds'] {
  if (task.status !== 'in_progress') return null;
  return task.runs_on === 'remote' ? 'worker' : holds;
}

/** Settings that do not take effect yet; empty if all do. */
export function unacceptedSettings(deps: DataHandlerDeps): Pick<StatusSnapshot, 'unaccepted'> {
  const unaccepted = deps.unaccepted?.() ?? [];
  return unaccepted.length > 0 ? { unaccepted } : {};
}

function unacceptedSentence({ setting, by }: UnacceptedView): string {
  const who = by === null ? 'changed' : `changed by the landing of ${by}`;
  return `The setting ${setting} in .drover.toml was ${who}; the accepted value stays in use. Review it with "drover trust".`;
}

/**
 * The branch's current tip. If a remote must be asked and does not respond in time, the last known
 * tip.
 */
async function tipOf({ git, store }: DataHandlerDeps, branch: string): Promise<string | null> {
  const asked = git.readRef(branchRef(branch));
  if (git.sharedRemote === null) return asked;
  const answer = asked.catch((error: unknown) => {
    if (error instanceof Refusal && error.kind === 'git') return undefined;
    throw error;
  });
  const late = Promise.withResolvers<undefined>();
  const callOff = store.sources.clock.timer(remoteAnswersMs, () => late.resolve(undefined));
  const tip = await Promise.race([answer, late.promise]);
  callOff();
  return tip === undefined ? ((await readLine(store.db, branch))?.followed_sha ?? null) : tip;
}

const remoteAnswersMs = 800;

/** In a fleet, another machine may be running tasks although this one is not. */
async function isAttended({ hasBackend, store }: DataHandlerDeps): Promise<boolean> {
  return (hasBackend ?? true) || (await liveMachines(store.db)).length > 0;
}

function noLander(
  tasks: readonly TaskView[],
  machines: readonly MachineView[],
  gateNeeds: readonly string[],
): Pick<StatusSnapshot, 'no_lander'> {
  if (!tasks.some(({ status, phase }) => status === 'in_progress' && isHandedOver(phase)))
    return {};
  const facts = machines.map((view) => ({ ...view, busy: view.agents }));
  const reason = whyNoLander(gateNeeds, facts);
  return reason === null ? {} : { no_lander: reason };
}

export function inspectHandlers(deps: DataHandlerDeps): Pick<Handlers, InspectRequests> {
  const { store } = deps;
  return {
    status: async (scope) => {
      const snapshot = await readSnapshot(store.db, scope, snapshotExtras(deps));
      const machines = await readMachines(store.db, deps.settings().fleet.takeOverAfterMs);
      return {
        ...snapshot,
        ...(await withSandboxes(deps, snapshot.tasks)),
        ...unacceptedSettings(deps),
        ...(machines.length > 0 && { machines }),
        ...noLander(snapshot.tasks, machines, deps.settings().gate.needs),
        ...(snapshot.run?.active === true &&
          !(await isAttended(deps)) && { unattended: true as const }),
      };
    },
    why: async ({ id }) => {
      const facts = {
        nowMs: store.sources.clock.now(),
        agentKind: deps.settings().agent.kind,
        agents: agentChoices(deps.settings().agent, deps.settings().agents),
        hasBackend: await isAttended(deps),
        gateNeeds: deps.settings().gate.needs,
        remote: pickPlaceRules(deps.settings()),
      };
      const lost = await lostRefs(deps, id);
      const waiting = (deps.unaccepted?.() ?? []).map(unacceptedSentence);
      return {
        id,
        reasons: [
          ...(await why(store.db, id, { ...facts, ...(lost !== null && { lost }) })),
          ...waiting,
        ],
      };
    },
    'events.read': async ({ after = 0, limit = eventsDefault, ...filter }) => {
      const bounded = Math.min(limit, eventsMax);
      const events = await store.feed.read({ after, limit: bounded, ...filter });
      return { events, seq: await store.feed.lastSeq() };
    },
    questions: async () => readAtOneMoment(store.db, openQuestions),
    'machines.list': async ({ all }) => {
      const { takeOverAfterMs } = deps.settings().fleet;
      return readAtOneMoment(store.db, (db) => readMachines(db, takeOverAfterMs, all === true));
    },
    'machines.drain': (wanted) => store.transaction((tx) => orderDrain(tx, store.sources, wanted)),
    'line.release': ({ line }) => store.transaction((tx) => orderRelease(tx, store.sources, line)),
    'worktree.list': async () => (await deps.worktrees()).worktrees,
    'worktree.sizes': () => deps.worktrees(),
  };
}

/**
 * Refs that a task's row names but that no longer exist, because a pruning fetch with a mirror
 * refspec or a user removed them. Returns null for an epic, and if none is lost.
 */
async function lostRefs(
  { git, store }: Pick<DataHandlerDeps, 'git' | 'store'>,
  id: string,
): Promise<LostRefs | null> {
  const row = await taskById(store.db, id);
  if (row === null) return null;
  const refs = new Map<string, string | null>();
  const { branch, commit_sha: commit, landed_sha: landed } = row;
  const isKept = landed === null && branch !== null && commit !== null;
  if (isKept && (await git.readRef(branchRef(branch))) === null) {
    refs.set(branch, await present(git, commit));
  }
  const commits = await keptCommits(store.db, id);
  for (const ref of textList(row.rescue_refs)) {
    if ((await git.readRef(ref)) !== null) continue;
    refs.set(ref, await present(git, commits.get(ref) ?? null));
  }
  const isLandedLost = landed !== null && !(await isOnLine(git, store, landed));
  return refs.size === 0 && !isLandedLost ? null : { refs, isLandedLost };
}

/** Returns null if git does not have the commit. */
async function present(git: DataHandlerDeps['git'], sha: string | null): Promise<string | null> {
  if (sha === null) return null;
  const found = await git.resolve(sha);
  return found.ok ? found.value : null;
}

async function isOnLine(
  git: DataHandlerDeps['git'],
  store: DataHandlerDeps['store'],
  sha: string,
): Promise<boolean> {
  const branches = new Set((await allLines(store.db)).map(({ branch }) => branch));
  if (git.facts.headBranch !== null) branches.add(git.facts.headBranch);
  for (const branch of branches) {
    for (const ref of [branchRef(branch), landingRef(branch)]) {
      const tip = await git.readRef(ref);
      if (tip !== null && (await git.isAncestor(sha, tip))) return true;
    }
  }
  return false;
}

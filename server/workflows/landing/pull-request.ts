// Sends an epic with a green gate to the forge, or the revert of one that was merged there. The
// requests are recorded in the transaction that ends the landing.

import {
  forgeBranch,
  type ForgeMerge,
  type PullRequestPlan,
  undoBranch,
} from '../../core/forge/pull-plan.ts';
import { ok, type Result } from '../../core/failure.ts';
import type { Sha } from '../../git/sha.ts';
import {
  addRequest,
  type PlannedRequest,
  planRequests,
  runById,
  type Tx,
} from '../../store/port.ts';
import type { BuiltLevel } from './build-stack.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { resolveRunSettings } from '../kit/run-settings.ts';
import type { LandingHead } from '../line/line.ts';

/** The forge's current base, on which a pull request is tested. */
export async function forgeHead(
  { forge }: Uses<'forge'>,
  branch: string,
): Promise<Result<LandingHead>> {
  const base = await forge.newestBase(branch);
  return base.ok ? ok({ tip: base.value, head: base.value, includes: null }) : base;
}

interface TestedEpic {
  readonly epicId: string;
  readonly runId: string;
  readonly line: string;
  readonly target: string;
  readonly tip: Sha;
  readonly tree: Sha;
  /** The base commit on the forge that the tested tree includes. */
  readonly testedBase: Sha;
  /** Absent if the epic is one pull request. */
  readonly levels?: readonly BuiltLevel[];
}

export async function planPullRequest(
  engine: Uses<'clock' | 'settings' | 'store'>,
  tx: Tx,
  epic: TestedEpic,
): Promise<void> {
  if (epic.levels !== undefined) return planStack(engine, tx, epic, epic.levels);
  const { epicId, runId, line, target, tip, tree, testedBase } = epic;
  const branch = forgeBranch(epicId);
  const work = { epicId, runId, line, target, head: tip, tree, testedBase, branch, base: null };
  const plan = await planOf(engine, tx, work);
  await planRequests(tx, epicId, requestsOf(plan, tip), engine.clock.now());
}

async function planStack(
  engine: Uses<'clock' | 'settings' | 'store'>,
  tx: Tx,
  { epicId, runId, line, target }: TestedEpic,
  levels: readonly BuiltLevel[],
): Promise<void> {
  const requests: PlannedRequest[] = [];
  for (const [index, level] of levels.entries()) {
    const { branch, head, tree, below: testedBase, position, tasks, commits, pushed } = level;
    const plan = await planOf(engine, tx, {
      epicId,
      runId,
      line,
      target,
      head,
      tree,
      testedBase,
      branch,
      base: levels[index - 1]?.branch ?? null,
      level: { position, tasks, commits, pushed: pushed?.head ?? null },
    });
    const isNews =
      pushed?.state !== 'open' ||
      pushed.head !== head ||
      pushed.base !== plan.base ||
      (index === 0 && pushed.testedBase !== testedBase);
    if (!isNews) continue;
    // Reviewers are only asked again if there is something new to read.
    const planned = requestsOf(plan, `${position}/${head}/${testedBase.slice(0, 16)}`).filter(
      ({ kind }) => kind !== 'dress' || level.isChanged || pushed?.state === 'opening',
    );
    requests.push(...planned);
  }
  const numbered = requests.map((request, position) => ({ ...request, position }));
  await planRequests(tx, epicId, numbered, engine.clock.now());
}

/** Adds the values from the run's settings. */
async function planOf(
  engine: Uses<'settings' | 'store'>,
  tx: Tx,
  {
    base,
    ...work
  }: Omit<PullRequestPlan, 'base' | 'isDraft' | 'reviewers' | 'labels'> & {
    readonly base: string | null;
  },
): Promise<PullRequestPlan> {
  const { forge } = resolveRunSettings(engine, await runById(tx, work.runId));
  const { isDraft, reviewers, labels } = forge;
  return { ...work, base: base ?? forge.base ?? work.target, isDraft, reviewers, labels };
}

function requestsOf(plan: PullRequestPlan, name: string) {
  const { epicId } = plan;
  const kinds = ['push', 'open', 'dress', ...(plan.isDraft ? [] : ['ready'])];
  return kinds.map((kind, position) => {
    return { key: `${epicId}/${name}/${kind}`, epicId, position, kind, request: plan };
  });
}

export interface ForgeUndo {
  readonly merges: readonly ForgeMerge[];
  readonly base: string;
  readonly runId: string;
  /** Number of earlier reverts of the epic. */
  readonly round: number;
}

/** Plans the pull request with the revert. Two requests for the same round plan it once. */
export async function planUndoPull(
  engine: Uses<'clock' | 'settings' | 'store'>,
  tx: Tx,
  { epicId, line, tip, tree, testedBase }: Omit<TestedEpic, 'runId' | 'target'>,
  { merges, base, runId, round }: ForgeUndo,
): Promise<void> {
  const branch = undoBranch(epicId, round);
  const target = { line, target: line, branch, base };
  const work = { epicId, runId, ...target, head: tip, tree, testedBase, undoes: merges };
  const plan = await planOf(engine, tx, work);
  for (const request of requestsOf(plan, `undo-${round + 1}`))
    await addRequest(tx, request, engine.clock.now());
}

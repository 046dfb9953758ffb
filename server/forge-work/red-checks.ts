// Gives a red check to an agent, with the log of its job, or first runs the job once more.

import type { Reaction } from '../core/forge/decide.ts';
import type { JobLog } from '../core/forge/job-log.ts';
import type { PullFacts, Read } from '../core/forge/observed-pull.ts';
import type { Check, PullCore } from '../core/forge/pull-facts.ts';
import { type Rerun, rerunStep } from '../core/forge/rerun.ts';
import type { Forge } from '../forge/port.ts';
import type { OutboxRow } from '../store/forge/outbox.ts';
import { type PullRow, storeFact } from '../store/forge/pull-requests.ts';
import type { ForgeKey } from '../store/schema/forge-rows.ts';
import { addRequest, type Tx } from '../store/port.ts';
import { pathsChanged } from '../workflows/kit/compared-commits.ts';
import { addFix } from './give-facts.ts';
import type { ReadFact } from './merge-pulls.ts';
import type { SendDeps } from './sent.ts';

type Engine = SendDeps['engine'];
type Fix = Extract<Reaction, { readonly kind: 'fix' }>;

export interface RerunPlan {
  readonly pull: ForgeKey & { readonly number: number };
  readonly head: string;
  readonly check: string;
  readonly job: number;
}

interface RedCheck {
  readonly pull: PullRow;
  readonly facts: PullFacts;
  /** The tasks of the pull request's level. Null if it is not in a stack. */
  readonly tasks: readonly string[] | null;
  readonly fix: Fix;
  readonly check: Check;
  readonly readFact: ReadFact;
}

export async function giveCheck(engine: Engine, forge: Forge, red: RedCheck): Promise<void> {
  const { pull, facts, tasks, fix, check, readFact } = red;
  const core = facts.pull;
  const all = facts.checks.kind === 'read' ? facts.checks.value : [];
  const rerun = facts.reruns.find((one) => one.check === check.name) ?? null;
  // When a check of a merge queue's group is red, the group no longer exists, so the job cannot run
  // again.
  const isOfHead = fix.key === `${fix.subject}/${core.head}`;
  const stepFor = (isOurs: boolean | null): ReturnType<typeof rerunStep> =>
    isOfHead ? rerunStep(check, all, { rerun, isOurs, nowMs: facts.nowMs }) : 'give';
  if (stepFor(null) === 'wait') return;
  const { job } = check;
  const paths = job === null ? null : await pathsOf(engine, core);
  const log =
    job === null ? null : await readFact<JobLog>('log', () => forge.jobLog(job, paths ?? []));
  switch (stepFor(isOurs(check, paths, log))) {
    case 'wait':
      return;
    case 'rerun':
      return planRerun(engine, pull, core.head, check);
    case 'give': {
      const words =
        log === null ? '' : log.kind === 'read' ? log.value.evidence : unreadLog(log.why);
      // Secrets are masked before the log is shortened, because half a secret would not be
      // recognized.
      const cause = { kind: 'check', check, log: engine.mask(words) } as const;
      return addFix(engine, { pull, core, tasks }, { ...fix, cause });
    }
  }
}

function unreadLog(why: string): string {
  return `The log of its job cannot be read: ${why}`;
}

/** Returns whether the failure is about this work, or null if that is unknown. */
function isOurs(
  { annotations }: Check,
  paths: readonly string[] | null,
  log: Read<JobLog> | null,
): boolean | null {
  if (paths === null || log?.kind !== 'read') return null;
  return log.value.isOurs || annotations.some(({ path }) => paths.includes(path));
}

/** Returns the files that the pull request changes, or null if they are unknown here. */
async function pathsOf(engine: Engine, core: PullCore): Promise<readonly string[] | null> {
  const base = await engine.git.mergeBase(core.baseSha, core.head);
  return base === null ? null : pathsChanged(engine, base, core.head);
}

async function planRerun(
  engine: Engine,
  { provider, host, native_id, number, epic_id: epicId }: PullRow,
  head: string,
  { name: check, job }: Check,
): Promise<void> {
  if (job === null) return;
  const pull = { provider, host, native_id, number };
  const request: RerunPlan = { pull, head, check, job };
  const row = {
    key: `${epicId}/rerun/${head}/${check}`,
    epicId,
    position: 0,
    kind: 'rerun',
    request,
  };
  await engine.store.transaction(async (tx) => {
    await addRequest(tx, row, engine.clock.now());
    await engine.store.append(tx, {
      type: 'epic.pull_request_rerun',
      epicId,
      data: { number, about: engine.mask(`the job "${check}"`) },
    });
  });
}

/**
 * Records that the job cannot run again. An agent gets the check instead, and `drover pr` shows the
 * reason.
 */
export async function notRerun(engine: Engine, tx: Tx, row: OutboxRow, why: string): Promise<void> {
  const { pull } = JSON.parse(row.request) as RerunPlan;
  await storeFact(tx, pull, 'rerun', { unread: why });
  await engine.store.append(tx, {
    type: 'epic.pull_request_not_rerun',
    epicId: row.epic_id,
    data: { number: pull.number, reason: why },
  });
}

/** Returns the requests to run jobs of this head again. */
export function rerunsIn(outbox: readonly OutboxRow[], head: string): readonly Rerun[] {
  return outbox.flatMap((row): readonly Rerun[] => {
    if (row.kind !== 'rerun' || row.state === 'dropped') return [];
    const { check, job, head: of } = JSON.parse(row.request) as RerunPlan;
    const { state, answer, ended_at_ms: endedAtMs } = row;
    return of === head ? [{ check, job, state, answer, endedAtMs }] : [];
  });
}

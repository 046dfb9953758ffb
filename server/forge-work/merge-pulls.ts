// Merges made by the forge: the facts about them, the preceding gate on a newer base, and the
// request.

import { landingRef } from '../core/work/ref-names.ts';
import { chooseMethod, gatesMax, type MergeStep } from '../core/forge/merging.ts';
import type { MergeFacts, Read } from '../core/forge/observed-pull.ts';
import type { Check, GateAge, MergeMode, PullCore } from '../core/forge/pull-facts.ts';
import type { Answer, Forge, Unreadable } from '../forge/port.ts';
import type { OutboxRow } from '../store/forge/outbox.ts';
import { pullFact, type PullRow, storeFact } from '../store/forge/pull-requests.ts';
import { addRequest, epicById, runById, type RunRow } from '../store/port.ts';
import { resolveRunSettings } from '../workflows/kit/run-settings.ts';
import { regateOnNewBase, testOnBaseName } from '../workflows/landing/land-epic.ts';
import type { LevelPlace } from './stack-place.ts';
import { planRetarget } from './stack-requests.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';

export interface MergePlan {
  readonly nativeId: string;
  readonly number: number;
  readonly how: 'auto' | 'queue';
  readonly head: string;
}

/** The base on which a head passed the gate. */
export interface TestedHead {
  readonly base: string;
  readonly head: string;
}

/** The newer bases on which a head's gate was started again. */
interface Gates {
  readonly head: string;
  readonly bases: readonly string[];
}

export type ReadFact = <T>(name: string, ask: () => Promise<Answer<T>>) => Promise<Read<T>>;

const notAsked = { kind: 'unread', why: 'it was not asked for' } as const;

interface Merged {
  readonly pull: PullRow;
  readonly core: PullCore;
  readonly place: LevelPlace | null;
  /** All requests of its epic. */
  readonly sent: readonly OutboxRow[];
  /** The person's choice; null if the settings of the run decide. */
  readonly switched: MergeMode | null;
  readonly readFact: ReadFact;
}

export async function gatherMerge(
  engine: Engine,
  { forge, base: { tip: readTip } }: { forge: Forge; base: Pick<Forge, 'tip'> },
  { pull, core, place, sent, switched, readFact }: Merged,
): Promise<MergeFacts> {
  const { db } = engine.store;
  const run = await runById(db, pull.run_id);
  const isAbove = place !== null && place.below !== null;
  const mode = isAbove ? 'person' : (switched ?? resolveRunSettings(engine, run).forge.merge);
  const asked = sent.find(({ key }) => key === mergeKey(pull, core.head));
  const pushes = sent.filter(({ kind }) => kind === 'push').map((row) => row.ended_at_ms ?? 0);
  const tip = await readTip(place?.baseName ?? pull.base);
  const base = tip.kind === 'facts' ? tip.value : null;
  const isAsked = mode !== 'person' && core.state === 'open';
  const merging = isAsked ? await readFact('merging', () => forge.merging(core)) : notAsked;
  const queued = merging.kind === 'read' ? (merging.value.queue?.groupHead ?? null) : null;
  return {
    mode,
    merging,
    asked:
      asked === undefined || asked.state === 'dropped'
        ? null
        : { state: asked.state, answer: asked.answer },
    gate: isAbove ? 'newest' : await gateAge(engine, { pull, place, run }, base),
    base,
    pushedAtMs: Math.max(pull.created_at_ms, ...pushes),
    group: isAsked ? await groupOf(engine, forge, pull, { head: core.head, queued }) : null,
  };
}

function mergeKey({ epic_id: epicId }: PullRow, head: string): string {
  return `${epicId}/merge/${head}`;
}

interface Gated {
  readonly pull: PullRow;
  readonly place: LevelPlace | null;
  readonly run: RunRow | null;
}

/** The tip that the gate runs on, and the name under which its gate runs are counted. */
async function gatedTip(engine: Engine, { pull, place, run }: Gated) {
  if (place === null || run === null) return { tip: pull.head_sha, counted: pull.head_sha };
  // All levels are moved onto the latest base.
  const tip = (await engine.git.readRef(landingRef(run.line))) ?? pull.head_sha;
  return { tip, counted: pull.branch };
}

async function gateAge(engine: Engine, gated: Gated, base: string | null): Promise<GateAge> {
  const { pull, run } = gated;
  const { db } = engine.store;
  const tested = await pullFact<TestedHead>(engine.store.db, pull, 'tested');
  if (base === null || run === null) return 'unknown';
  if (tested?.head === pull.head_sha && tested.base === base) return 'newest';
  const { tip, counted } = await gatedTip(engine, gated);
  const gates = await pullFact<Gates>(engine.store.db, pull, 'gates');
  const bases = gates?.head === counted ? gates.bases : [];
  if (!bases.includes(base)) return bases.length >= gatesMax ? 'too_often' : 'older';
  const name = testOnBaseName(run, { epicId: pull.epic_id, tip, base });
  const state = (await engine.durable.get(name))?.state;
  const isRunning = state === 'pending' || state === 'running';
  const epic = await epicById(db, pull.epic_id);
  // If the gate is green, its requests are about to be sent. If it is red, the epic says so.
  return isRunning || epic?.landing_state === 'pull_request' ? 'running' : 'unknown';
}

/** The queue forgets its group when the pull request leaves it. */
async function groupOf(
  engine: Engine,
  forge: Forge,
  pull: PullRow,
  { head, queued }: { readonly head: string; readonly queued: string | null },
): Promise<MergeFacts['group']> {
  const known = await pullFact<{ readonly head: string; readonly group: string }>(
    engine.store.db,
    pull,
    'group',
  );
  if (queued !== null) {
    if (known?.group !== queued) await keep(engine, pull, 'group', { head, group: queued });
    return null;
  }
  if (known?.head !== head) return null;
  const answer = await forge.checks(known.group);
  const checks: Read<readonly Check[]> =
    answer.kind === 'facts' ? { kind: 'read', value: answer.value } : notAsked;
  return { head: known.group, checks };
}

async function keep(engine: Engine, pull: PullRow, name: string, value: object): Promise<void> {
  const read = { value: JSON.stringify(value), missing: null, atMs: engine.clock.now() };
  await engine.store.transaction((tx) => storeFact(tx, pull, name, read));
}

export async function takeMergeStep(
  engine: Engine,
  { pull, place }: Pick<Gated, 'pull' | 'place'>,
  step: MergeStep,
): Promise<void> {
  switch (step.kind) {
    case 'gate': {
      const run = await runById(engine.store.db, pull.run_id);
      const epic = await epicById(engine.store.db, pull.epic_id);
      if (run === null || epic?.landing_state !== 'pull_request') return;
      const { tip, counted } = await gatedTip(engine, { pull, place, run });
      await regateOnNewBase(engine, run, { epicId: pull.epic_id, tip, base: step.base });
      const known = await pullFact<Gates>(engine.store.db, pull, 'gates');
      const bases = known?.head === counted ? known.bases : [];
      await keep(engine, pull, 'gates', { head: counted, bases: [...bases, step.base] });
      return;
    }
    case 'merge': {
      const { native_id: nativeId, number, head_sha: head, epic_id: epicId } = pull;
      const request: MergePlan = { nativeId, number, how: step.how, head };
      const key = mergeKey(pull, head);
      const row = { key, epicId, kind: 'merge', request };
      const nowMs = engine.clock.now();
      await engine.store.transaction(async (tx) => {
        const above = place?.above ?? null;
        // If it were merged first, the pull request above would be on a branch that is deleted.
        if (above !== null) await planRetarget(tx, above, pull.base, nowMs);
        await addRequest(tx, { ...row, position: 1 }, nowMs);
      });
    }
  }
}

/** The response if the forge refused the request; null if it accepted it or no request is left. */
export async function sendMerge(
  forge: Forge,
  { nativeId, number, how, head }: MergePlan,
): Promise<Unreadable | Extract<Answer<never>, { readonly kind: 'limited' }> | null> {
  const core = await forge.read(number);
  if (core.kind !== 'facts') return core;
  if (core.value.state !== 'open' || core.value.head !== head) return null;
  const merging = await forge.merging({ nativeId, number });
  if (merging.kind !== 'facts') return merging;
  const { queue, isAuto } = merging.value;
  if (queue !== null || isAuto) return null;
  const rules = await forge.rules(core.value.baseBranch);
  if (rules.kind !== 'facts') return rules;
  const method = chooseMethod(rules.value, merging.value.method);
  const asked = await forge.merge(nativeId, { how, head, method });
  return asked.kind === 'facts' ? null : asked;
}

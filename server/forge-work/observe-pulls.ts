// Reads open pull requests, decides how to react to their facts, and does so. Each reaction is
// recorded in the transaction of its effect.

import { decide, type Reaction, describeWait, waitCause } from '../core/forge/decide.ts';
import type { PullSwitches } from '../core/forge/pull-switches.ts';
import type { PullWait } from '../core/forge/pull-waits.ts';
import type { PullFacts, Read } from '../core/forge/observed-pull.ts';
import type { BranchRules, Check, PullCore, ReviewThread } from '../core/forge/pull-facts.ts';
import type { Answer, Forge } from '../forge/port.ts';
import { outboxOfEpic, pendingRequests, personReply } from '../store/forge/outbox.ts';
import {
  isStored,
  openPulls,
  type PullRow,
  reactionsOfPull,
  setEpicWaiting,
  setPull,
  storeFact,
} from '../store/forge/pull-requests.ts';
import { switchesOfPull } from '../store/forge/pull-switches.ts';
import { epicById } from '../store/port.ts';
import type { ForgeAccess } from './forge-access.ts';
import { isUndo } from '../core/forge/pull-plan.ts';
import { pullName } from '../core/forge/stack.ts';
import { addFix, addShown, planReplies } from './give-facts.ts';
import { gatherMerge, type ReadFact, takeMergeStep } from './merge-pulls.ts';
import { adoptForeign, continueRun, endMerged, giveBackPull } from './pull-ends.ts';
import { giveCheck, rerunsIn } from './red-checks.ts';
import { toRead, whyUnread } from './read-answer.ts';
import type { SendDeps } from './sent.ts';
import { endLevel, moveOntoBase } from './stack-levels.ts';
import { type LevelPlace, placeInStack } from './stack-place.ts';
import { endUndo } from './undo-pulls.ts';

export interface ObserveDeps extends SendDeps {
  readonly quietMs: number;
  /** Accounts that count as people with write access. */
  readonly bots: readonly string[];
}

export async function observePulls(deps: ObserveDeps, isOver: () => boolean): Promise<void> {
  const { engine, project } = deps;
  const pulls = await openPulls(engine.store.db);
  if (pulls.length === 0) return;
  const opened = await project.open();
  if (!opened.ok) {
    for (const pull of pulls) await note(engine, pull, opened.error.message);
    return;
  }
  const look = { ...opened.value, base: sharedReads(opened.value.forge) };
  for (const pull of pulls) {
    if (isOver()) return;
    const pending = await pendingRequests(engine.store.db);
    // While a push is in progress, the head is about to change.
    const isChanging = pending.some(
      ({ epic_id: epic, kind }) => epic === pull.epic_id && kind !== personReply,
    );
    if (isChanging) continue;
    const switches = await switchesOfPull(engine.store.db, pull);
    if (!switches.watch) {
      const remedy = `"drover pr ${pull.epic_id} --watch on" watches it again`;
      await note(engine, pull, `PR #${pull.number} is not watched: ${remedy}`);
      continue;
    }
    await observe(deps, look, pull, switches);
  }
}

interface Look extends ForgeAccess {
  /** Shared by pull requests, so read once per round. */
  readonly base: Pick<Forge, 'tip' | 'rules'>;
}

function sharedReads(forge: Forge): Look['base'] {
  return { tip: once((branch) => forge.tip(branch)), rules: once((branch) => forge.rules(branch)) };
}

function once<T>(read: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (name) => {
    const answer = known.get(name) ?? read(name);
    known.set(name, answer);
    return answer;
  };
}

async function observe(
  deps: ObserveDeps,
  access: Look,
  pull: PullRow,
  switches: PullSwitches,
): Promise<void> {
  const { engine } = deps;
  const core = await access.forge.read(pull.number);
  await keepFact(engine, pull, 'core', core);
  if (core.kind !== 'facts') {
    return note(engine, pull, `PR #${pull.number} cannot be read: ${whyUnread(core)}`);
  }
  // After a rename, the number belongs to another pull request.
  if (core.value.nativeId !== pull.native_id)
    return note(engine, pull, `PR #${pull.number} is now a different pull request`);
  const place = await placeInStack(engine, pull);
  if (place !== null && core.value.state === 'merged')
    return endLevel(engine, access, { pull, core: core.value, place });
  if (place !== null && (await moveOntoBase(engine, access, pull, place))) {
    const name = pullName(pull.number, place);
    return note(engine, pull, `${name} is being moved onto ${place.baseName}`, {
      place,
      cause: 'below',
    });
  }
  const facts = await gather(deps, access, { pull, core: core.value, place, switches });
  if (isUndo(pull)) {
    if (!(await endUndo(engine, access.remote, pull, core.value)))
      await note(engine, pull, describeWait(facts), { cause: waitCause(facts) });
    return;
  }
  const reactions = decide(facts);
  for (const reaction of reactions) {
    if (!(await carryOut(deps, access, { pull, facts, place, reaction }))) return;
  }
  await planReplies(engine, pull, facts.threads, place);
  if (await continueRun(engine, pull)) return;
  // Only work that no agent is changing may be merged.
  for (const step of reactions)
    if (step.kind === 'gate' || step.kind === 'merge')
      await takeMergeStep(engine, { pull, place }, step);
  await note(engine, pull, describeWait(facts), { place, cause: waitCause(facts) });
}

interface Observed {
  readonly pull: PullRow;
  readonly core: PullCore;
  readonly place: LevelPlace | null;
  readonly switches: PullSwitches;
}

interface Due extends Pick<Observed, 'place' | 'pull'> {
  readonly facts: PullFacts;
  readonly reaction: Reaction;
}

/** Returns false if nothing more must be done about this pull request now. */
async function carryOut(
  { engine }: ObserveDeps,
  { forge, remote }: ForgeAccess,
  { pull, facts, place, reaction }: Due,
): Promise<boolean> {
  switch (reaction.kind) {
    case 'merged':
      await endMerged(engine, remote, pull, reaction.commit);
      return false;
    case 'returned':
      await giveBackPull(engine, pull, reaction);
      return false;
    case 'adopt':
      await adoptForeign(engine, remote, pull, reaction.sha);
      return false;
    case 'fix': {
      const { cause } = reaction;
      const tasks = place?.tasks ?? null;
      if (cause.kind === 'check') {
        const readLog: ReadFact = (name, ask) => readFact(engine, pull, name, true, ask);
        const red = { pull, facts, tasks, fix: reaction, check: cause.check, readFact: readLog };
        await giveCheck(engine, forge, red);
      } else await addFix(engine, { pull, core: facts.pull, tasks }, reaction);
      return true;
    }
    case 'show':
      await addShown(engine, pull, reaction);
      return true;
    case 'gate':
    case 'merge':
      return true;
  }
}

async function gather(
  { engine, quietMs, bots }: ObserveDeps,
  access: Look,
  { pull, core, place, switches }: Observed,
): Promise<PullFacts> {
  const { forge } = access;
  const head = await standOfHead(engine, access, pull, core);
  const isLive = core.state === 'open' && head === 'ours';
  const checks = await readFact(engine, pull, 'checks', isLive, () => forge.checks(core.head));
  const sent = await outboxOfEpic(engine.store.db, pull.epic_id);
  const merge = await gatherMerge(engine, access, {
    pull,
    core,
    place,
    sent,
    switched: switches.merge,
    readFact: (name, ask) => readFact(engine, pull, name, isLive, ask),
  });
  const isRed = [checks, merge.group?.checks].some(
    (read) => read?.kind === 'read' && read.value.some(({ state }) => state === 'red'),
  );
  const baseChecks = await readFact<readonly Check[]>(engine, pull, 'base_checks', isRed, () =>
    forge.checks(core.baseSha),
  );
  const rules = await readFact<BranchRules>(engine, pull, 'rules', isLive, () =>
    access.base.rules(place?.baseName ?? core.baseBranch),
  );
  const threads = await readFact<readonly ReviewThread[]>(engine, pull, 'threads', isLive, () =>
    forge.threads(core),
  );
  const done = await reactionsOfPull(engine.store.db, pull);
  return {
    pull: core,
    place,
    pushed: pull.head_sha,
    head,
    checks,
    baseChecks,
    rules,
    threads,
    writers: threads.kind === 'read' ? await writersIn(forge, threads.value, bots) : new Set(),
    switches,
    done: done.map(({ key, subject, state, at_ms: atMs }) => ({ key, subject, state, atMs })),
    reruns: rerunsIn(sent, core.head),
    merge,
    nowMs: engine.clock.now(),
    quietMs,
  };
}

async function standOfHead(
  engine: SendDeps['engine'],
  { remote }: ForgeAccess,
  pull: PullRow,
  core: PullCore,
): Promise<PullFacts['head']> {
  if (core.head === pull.head_sha || core.state !== 'open') return 'ours';
  const fetched = await remote.fetch(pull.branch);
  // The branch and the response may have been read at different times.
  if (!fetched.ok || fetched.value !== core.head) return 'ours';
  return (await engine.git.isAncestor(pull.head_sha, core.head)) ? 'on_top' : 'rewritten';
}

async function writersIn(
  forge: Forge,
  threads: readonly ReviewThread[],
  bots: readonly string[],
): Promise<ReadonlySet<string>> {
  const authors = new Set(
    threads
      .filter(({ isOpen }) => isOpen)
      .flatMap(({ comments }) => comments.map((one) => one.author)),
  );
  const listed = new Set(bots.map((name) => name.toLowerCase()));
  const writers = new Set<string>();
  for (const author of authors) {
    if (author === '') continue;
    if (listed.has(author.toLowerCase())) {
      writers.add(author);
      continue;
    }
    const may = await forge.mayWrite(author);
    if (may.kind === 'facts' && may.value) writers.add(author);
  }
  return writers;
}

async function readFact<T>(
  engine: SendDeps['engine'],
  pull: PullRow,
  name: string,
  isWanted: boolean,
  ask: () => Promise<Answer<T>>,
): Promise<Read<T>> {
  if (!isWanted) return { kind: 'unread', why: 'it was not asked for' };
  const answer = await ask();
  await keepFact(engine, pull, name, answer);
  const read = toRead(answer);
  if (read.kind === 'unread') return { ...read, why: engine.mask(read.why) };
  return read.missing === undefined ? read : { ...read, missing: engine.mask(read.missing) };
}

async function keepFact(
  engine: SendDeps['engine'],
  pull: PullRow,
  name: string,
  answer: Answer<unknown>,
): Promise<void> {
  const read =
    answer.kind === 'facts'
      ? {
          value: engine.mask(JSON.stringify(answer.value)),
          atMs: engine.clock.now(),
          missing: answer.missing === undefined ? null : engine.mask(answer.missing),
        }
      : { unread: engine.mask(whyUnread(answer)) };
  if (await isStored(engine.store.db, pull, name, read)) return;
  await engine.store.transaction((tx) => storeFact(tx, pull, name, read));
}

/** Written only if it changed, because every write wakes the views that show it. */
async function note(
  engine: SendDeps['engine'],
  pull: PullRow,
  text: string,
  { place = null, cause = 'unread' }: { place?: LevelPlace | null; cause?: PullWait } = {},
): Promise<void> {
  const words = engine.mask(text);
  const epic = await epicById(engine.store.db, pull.epic_id);
  // The epic waits for the level that can be merged next.
  const isAbove = place !== null && place.below !== null;
  if (pull.note === words && (isAbove || epic?.landing_note === words)) return;
  await engine.store.transaction(async (tx) => {
    await setPull(tx, pull, { note: words });
    if (isAbove) return;
    // A landed epic, or one given to a person, no longer waits for the forge.
    const state = isUndo(pull) ? 'landed' : 'pull_request';
    if (epic?.landing_state !== state) return;
    await setEpicWaiting(tx, pull.epic_id, { state, note: words });
    await engine.store.append(tx, {
      type: 'epic.pull_request_waits',
      epicId: pull.epic_id,
      data: { number: pull.number, reason: words, cause },
    });
  });
}

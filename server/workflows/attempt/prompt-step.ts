// Collects the facts for a part's prompt. Core writes the text.

import { stepText } from '../../core/format.ts';
import { findAttachments } from '../../core/plan/attachments.ts';
import type { PromptPlan } from '../../core/prompt/plan-prompt.ts';
import {
  buildPrompt,
  resumePrompt,
  sentBackPrompt,
  type FinishedTask,
  type PromptInput,
} from '../../core/prompt/prompt.ts';
import {
  allHints,
  approvedPlan,
  readAttempt,
  type AttemptRow,
  readBlockers,
  type Claim,
  committedSince,
  completedInEpic,
  epicById,
  existingTask,
  lastCommitBefore,
  lastPlan,
  markHintDelivered,
  openHints,
  readSubTasks,
} from '../../store/port.ts';
import { type ContinuedSession, presentWork } from './earlier-work.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { notesForPrompt } from './notes-for-prompt.ts';
import { describeSurroundings } from './surroundings.ts';

type Prompting = Uses<
  'clock' | 'files' | 'git' | 'machineId' | 'mask' | 'places' | 'settings' | 'store'
>;

/** Maximum number of siblings in a prompt. */
const siblingsMax = 50;

export interface PartPrompt {
  readonly text: string;
  /**
   * The whole task, for a session that turns out to have lost its memory. Null if `text` already is
   * the whole task.
   */
  readonly ifForgotten: string | null;
  /** Waiting hints that are delivered with the prompt. */
  readonly hints: readonly string[];
  /** Paths of the images that the prompt names. */
  readonly attachments: readonly string[];
}

export async function buildPartPrompt(
  engine: Prompting,
  claim: Claim,
  attempt: AttemptRow,
  part: string,
  given: {
    readonly resume: boolean;
    readonly hasTools: boolean;
    readonly continued: ContinuedSession | null;
  },
): Promise<PartPrompt> {
  const { resume, hasTools, continued } = given;
  const { db } = engine.store;
  const [open, all, surroundings, gathered, notes] = await Promise.all([
    openHints(db, hintIds(claim, part)),
    // A new conversation also gets the earlier hints, which it has not received.
    allHints(db, hintIds(claim, part)),
    describeSurroundings(engine, claim, attempt, hasTools),
    promptInput(engine, claim, attempt, part),
    notesForPrompt(engine, attempt, part),
  ]);
  const hints = (resume ? open : all).map((hint) => hint.message);
  const forks = !resume && continued !== null && continued.sessionId !== null;
  const isContinued = { continued, hasConversation: resume || forks };
  const input: PromptInput = { ...gathered, ...isContinued, notes, hints, surroundings };
  const cut = attempt.failure_kind === 'interrupted' || attempt.error === null;
  const firstPart = claim.planning === true || claim.parts[0] === part;
  const isCut = resume && firstPart && cut && input.lastFailure === null;
  const text = resume
    ? (sentBackPrompt(input) ??
      (isCut && !(await isAfterPlanning(engine, attempt))
        ? resumePrompt(input)
        : buildPrompt(input)))
    : buildPrompt(input);
  const ifForgotten =
    resume || forks
      ? buildPrompt({
          ...input,
          hasConversation: false,
          hints: all.map((hint) => hint.message),
        })
      : null;
  const attachments = (input.attachments ?? []).flatMap(({ path }) => path ?? []);
  return { text, ifForgotten, hints: open.map((hint) => hint.id), attachments };
}

/**
 * Whether the agent continues the conversation that wrote the plan, and has not yet been asked to
 * implement it.
 */
async function isAfterPlanning(engine: Uses<'store'>, attempt: AttemptRow): Promise<boolean> {
  if (attempt.planning === 1) return false;
  const before = await readAttempt(engine.store.db, attempt.task_id, attempt.number - 1);
  return before?.planning === 1 && before.session_id === attempt.session_id;
}

/** A plan that was sent back must be answered, also by an attempt that retries after a failure. */
async function planOf(engine: Uses<'store'>, claim: Claim): Promise<PromptPlan | null> {
  const { db } = engine.store;
  if (claim.planning !== true) {
    const approved = await approvedPlan(db, claim.taskId);
    return approved === null ? null : { kind: 'approved', text: approved.text };
  }
  const last = await lastPlan(db, claim.taskId);
  const sentBack =
    last?.state === 'sent_back' ? { text: last.text, comment: last.comment ?? '' } : null;
  return { kind: 'make', sentBack };
}

/** Marks hints in a prompt as delivered once an agent gets the prompt. */
export async function hintsTold(engine: Uses<'store'>, ids: readonly string[]): Promise<void> {
  const { store } = engine;
  if (ids.length === 0) return;
  await store.transaction(async (tx) => {
    for (const id of ids) await markHintDelivered(tx, store.sources, id);
  });
}

async function promptInput(
  engine: Prompting,
  claim: Claim,
  attempt: AttemptRow,
  part: string,
): Promise<Omit<PromptInput, 'hints' | 'notes'>> {
  const { db } = engine.store;
  const settings = engine.settings();
  const [task, blockers, subTasks, failed, plan, present] = await Promise.all([
    existingTask(db, part),
    readBlockers(db, [part]),
    doneBefore(engine, part),
    lastFailure(engine, claim, attempt),
    planOf(engine, claim),
    presentWork(engine, claim, attempt),
  ]);
  const [epic, recent, siblings] = await Promise.all([
    task.epic_id === null ? null : epicById(db, task.epic_id),
    recentTasks(
      engine,
      part,
      task.epic_id,
      blockers.map((row) => row.id),
    ),
    siblingsOf(engine, task.parent_id, part),
  ]);
  return {
    guidelines: settings.guidelines,
    blockers: blockers.map((row) => ({
      id: row.id,
      title: row.title,
      verdict: row.verdict,
      summary: row.verdict_reason ?? '',
      landedSha: row.landed_sha,
    })),
    recent,
    task: {
      id: task.id,
      title: task.title,
      description: task.description ?? '',
      type: task.type,
      acceptanceCriteria: JSON.parse(task.acceptance_criteria) as string[],
    },
    siblings,
    subTasks,
    lastFailure: failed,
    epic:
      epic === null
        ? null
        : { id: epic.id, title: epic.title, description: epic.description ?? '' },
    attempt: claim.attempt,
    descriptionFile: await descriptionFile(engine, claim, part, task.description ?? ''),
    attachments: await attachmentsOf(engine, attempt, task.description ?? ''),
    plan,
    presentWork: present,
  };
}

async function recentTasks(
  engine: Uses<'clock' | 'settings' | 'store'>,
  part: string,
  epicId: string | null,
  blockers: readonly string[],
): Promise<PromptInput['recent']> {
  const settings = engine.settings();
  if (settings.taskContextCount === 0 || epicId === null) return [];
  const since = Math.floor((engine.clock.now() - settings.taskContextMaxAgeMs) / 1000);
  const rows = await completedInEpic(engine.store.db, epicId, {
    sinceS: since,
    except: [part, ...blockers],
    limit: settings.taskContextCount,
  });
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    verdict: row.verdict,
    summary: row.verdict_reason ?? '',
    ageMs: Math.max(0, engine.clock.now() - row.updated_at * 1000),
  }));
}

async function siblingsOf(
  engine: Uses<'store'>,
  parentId: string | null,
  part: string,
): Promise<PromptInput['siblings']> {
  if (parentId === null) return null;
  const { id, title } = await existingTask(engine.store.db, parentId);
  const rows = (await readSubTasks(engine.store.db, parentId)).slice(0, siblingsMax);
  const all = rows.map((row) => ({ id: row.id, title: row.title }));
  return { parent: { id, title }, all, index: all.findIndex((row) => row.id === part) };
}

function hintIds(claim: Claim, part: string): readonly string[] {
  return [...new Set([part, claim.taskId])];
}

async function lastFailure(
  engine: Uses<'git' | 'store'>,
  claim: Claim,
  attempt: AttemptRow,
): Promise<PromptInput['lastFailure']> {
  const before = await readAttempt(engine.store.db, claim.taskId, attempt.number - 1);
  if (before === null || before.failure_kind === null) return null;
  // The prompt already includes the plan that was sent back.
  if (before.planning === 1 && before.failure_kind === 'sent_back') return null;
  const task = await existingTask(engine.store.db, claim.taskId);
  const conflictFiles = JSON.parse(task.conflict_files) as string[];
  return {
    kind: before.failure_kind,
    message: before.error ?? '',
    otherAgent: before.step === attempt.step ? null : stepText(before),
    detail: before.error_detail ?? '',
    commit: before.commit_sha ?? (await conflictingCommit(engine, before)),
    continued: attempt.continues_from !== null,
    conflictFiles,
    landedMeanwhile: await landedMeanwhile(engine, before, conflictFiles),
  };
}

/** The conflicting work, unless a later attempt has changed anything. */
async function conflictingCommit(
  engine: Uses<'store'>,
  before: AttemptRow,
): Promise<string | null> {
  if (before.failure_kind !== 'conflict') return null;
  return lastCommitBefore(engine.store.db, before.task_id, before.number);
}

/** Maximum number of landed tasks whose changes are compared with the conflicting files. */
const landedMax = 20;

/**
 * The other side of a conflict: changes to the same files that landed since the attempt started,
 * with their purpose.
 */
async function landedMeanwhile(
  engine: Uses<'git' | 'store'>,
  before: AttemptRow,
  conflictFiles: readonly string[],
): Promise<readonly FinishedTask[]> {
  if (conflictFiles.length === 0) return [];
  const since = Math.floor(before.started_at_ms / 1000);
  const rows = await committedSince(engine.store.db, since, landedMax);
  const found: FinishedTask[] = [];
  for (const row of rows) {
    if (row.base_sha === null || row.commit_sha === null) continue;
    const paths = await engine.git.changedPaths(row.base_sha, row.commit_sha);
    if (!paths.ok || !paths.value.some((path) => conflictFiles.includes(path))) continue;
    const { id, title, verdict } = row;
    found.push({ id, title, verdict, summary: row.verdict_reason ?? '' });
  }
  return found;
}

/** Sub-tasks that were done before their parent's own turn. */
async function doneBefore(
  engine: Uses<'store'>,
  part: string,
): Promise<NonNullable<PromptInput['subTasks']>> {
  const rows = await readSubTasks(engine.store.db, part);
  return rows
    .filter((row) => row.status !== 'cancelled')
    .slice(0, siblingsMax)
    .map(({ id, title }) => ({ id, title }));
}

/**
 * A worker cannot read this machine's folders, and the image may be on another machine of a fleet.
 */
async function attachmentsOf(
  { files, places }: Uses<'files' | 'places'>,
  attempt: AttemptRow,
  description: string,
): Promise<NonNullable<PromptInput['attachments']>> {
  const found: { name: string; path: string | null }[] = [];
  for (const name of findAttachments(description)) {
    const path = `${places.attachments}/${name}`;
    const isHere = attempt.runs_on !== 'remote' && (await files.isFile(path));
    found.push({ name, path: isHere ? path : null });
  }
  return found;
}

/**
 * Writes a description that is too long for a prompt to a file beside the logs. The prompt then
 * names the file.
 */
async function descriptionFile(
  engine: Uses<'files' | 'mask' | 'places' | 'settings'>,
  claim: Claim,
  part: string,
  description: string,
): Promise<string | null> {
  if (Buffer.byteLength(description) <= engine.settings().maxDescriptionBytes) return null;
  const path = `${engine.places.logs}/${claim.taskId}/${part}.description.md`;
  await engine.files.writeText(path, engine.mask(description));
  return path;
}

// Runs one review: an agent reads the merged tree in its own folder and submits its verdict through
// Drover's tool, which stores it.

import type { AgentHost, AgentOutcome, AgentRequest } from '../../agents/port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import { reviewPrompt } from '../../core/prompt/review-prompt.ts';
import type { Sha } from '../../git/sha.ts';
import {
  addSpending,
  type LandingRow,
  releaseSlot,
  type TaskRow,
  textList,
} from '../../store/port.ts';
import { taskVariables } from '../attempt/worktree-step.ts';
import { budgetDay } from '../kit/budget-day.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { reviewHolder, reviewRunId } from '../kit/run-ids.ts';
import { leaseGateFolder } from './gate-folder.ts';

export type Reviewing = Uses<
  | 'agentEnvironment'
  | 'agentTools'
  | 'clock'
  | 'driverFor'
  | 'files'
  | 'foldersOfMachine'
  | 'git'
  | 'machineId'
  | 'mask'
  | 'places'
  | 'processes'
  | 'secrets'
  | 'settings'
  | 'store'
>;

export interface ReviewQuestion {
  readonly row: LandingRow;
  readonly task: TaskRow;
  readonly runId: string;
  /** The task's merge; `before` is the line's state before it. */
  readonly commit: Sha;
  readonly before: Sha;
  readonly tree: Sha;
}

const endGraceMs = 2_000;
const stallWarnMs = 120_000;
const stallEndMs = 300_000;

/** Resolves when the agent has ended: with null, or with the reason why it could not review. */
export async function runReview(
  engine: Reviewing,
  question: ReviewQuestion,
  signal: AbortSignal,
): Promise<string | null> {
  const { commit } = question;
  const holder = reviewHolder(commit);
  // A backend that was killed may have left a reviewer of this commit running.
  await engine.processes.endTree(reviewRunId(engine, commit), null, endGraceMs);
  const slot = await leaseGateFolder(engine, holder, 'review');
  try {
    const prepared = await engine.git.prepareSlot({
      path: slot.path,
      branch: null,
      sha: commit,
      keepBranch: false,
      dropIgnored: true,
      sparse: null,
      use: 'gate',
    });
    if (!prepared.ok) return prepared.error.message;
    return await askReviewer(engine, question, slot, signal);
  } finally {
    await engine.foldersOfMachine((tx) => releaseSlot(tx, 'gate', holder));
  }
}

async function askReviewer(
  engine: Reviewing,
  question: ReviewQuestion,
  slot: { readonly path: string; readonly number: number },
  signal: AbortSignal,
): Promise<string | null> {
  const { agent, model, usd } = engine.settings().review;
  const { row, tree, task, runId } = question;
  const diff = await engine.git.diff(question.before, question.commit);
  if (!diff.ok) return diff.error.message;
  const { id, title } = task;
  const criteria = textList(task.acceptance_criteria);
  const words = { id, title, description: task.description ?? '', criteria };
  const logPath = `${engine.places.logs}/${id}/review-${tree.slice(0, 12)}.ndjson`;
  const mark = reviewRunId(engine, question.commit);
  const review = { tree, agent: agent ?? '', model };
  const scope = { taskId: id, part: id, attempt: row.attempt, epoch: row.epoch, runId, review };
  const opened = await engine.agentTools.open(scope, logPath, mark);
  if (opened === null) return 'it needs the tools that [agent] tools turns off';
  const prompt = reviewPrompt({ task: words, diff: diff.value });
  const request: AgentRequest = {
    runId: mark,
    taskId: id,
    attempt: row.attempt,
    cwd: slot.path,
    prompt,
    planning: true,
    sessionId: engine.store.sources.uuid(),
    resume: false,
    logPath,
    env: {
      ...engine.agentEnvironment(agent ?? '', { runId, taskId: id, attempt: row.attempt }),
      ...taskVariables(engine, id, row.attempt, slot.number),
      DROVER_REVIEW: '1',
    },
    tools: opened.tools,
    secrets: [...engine.secrets(), opened.token],
    maxOutputBytes: engine.settings().maxOutputBytes,
    timeoutMs: engine.settings().review.timeoutMs,
    stallWarnMs,
    stallEndMs,
  };
  const host = new ReviewHost(usd, engine.clock.now());
  try {
    await engine.files.writeText(`${logPath}.prompt`, engine.mask(prompt));
    const driver = engine.driverFor(agent ?? '', model);
    const outcome = await driver.run(request, host, AbortSignal.any([signal, host.signal]));
    return host.signal.aborted ? `it used up its $${usd ?? 0} (review.usd)` : whyNot(outcome);
  } finally {
    await engine.agentTools.close(logPath);
    await engine.processes.endTree(mark, null, 0);
    await book(engine, row, host);
  }
}

function whyNot(outcome: AgentOutcome): string | null {
  switch (outcome.kind) {
    case 'done':
    case 'stopped':
      return null;
    case 'failed':
      return outcome.failure.message;
    case 'limited':
      return outcome.message;
  }
}

/** Adds the review's cost to the task's and the day's usage, in addition to its own limit. */
async function book(
  engine: Reviewing,
  { task_id: taskId, attempt }: LandingRow,
  { usage, turns, startMs }: ReviewHost,
): Promise<void> {
  const nowMs = engine.clock.now();
  const spent = {
    tokens: usage === null ? 0 : usage.inputTokens + usage.outputTokens,
    usd: usage?.costUsd ?? 0,
    turns,
    workedMs: Math.max(0, nowMs - startMs),
  };
  const key = { taskId, attempt, part: 'review', day: budgetDay(nowMs) };
  await engine.store.transaction((tx) => addSpending(tx, key, spent));
}

/** Answers no questions: a reviewer only does what it is allowed to do without asking. */
class ReviewHost implements AgentHost {
  readonly #limitUsd: number | null;
  readonly #over = new AbortController();
  usage: Usage | null = null;
  turns = 0;
  readonly startMs: number;

  constructor(limitUsd: number | null, startMs: number) {
    this.startMs = startMs;
    this.#limitUsd = limitUsd;
  }

  /** Aborts when the reviewer has used up its limit. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  async onProcess(): Promise<void> {}

  onEvent(event: AgentEvent): void {
    if (event.type === 'tool_call') this.turns += 1;
    if (event.type === 'usage') {
      this.usage = event.usage;
      this.onUsageSoFar(event.usage);
    }
  }

  onUsageSoFar({ costUsd }: Usage): void {
    if (this.#limitUsd !== null && (costUsd ?? 0) > this.#limitUsd) this.#over.abort();
  }

  async ask(): Promise<null> {
    return null;
  }

  onHint(): () => void {
    return () => undefined;
  }

  async hintDelivered(): Promise<void> {}
}

// Sentences that status, the live view and the end of a run share.

import { countOutcomes, type OutcomeCounts, outcomesOfTasks } from '../../core/plan/outcome.ts';
import { countsLine, outcomePercent } from '../../core/plan/outcome-words.ts';
import type { QuestionView, StatusSnapshot } from '../../protocol/api.ts';
import { describeWrongState } from '../../core/work/wrong-state.ts';
import { plainLine } from '../plain-text.ts';
import { costText } from './figures.ts';

export function totalCost(snapshot: StatusSnapshot): number {
  return snapshot.tasks.reduce((sum, task) => sum + task.cost, 0);
}

/** Sub-tasks and candidates are not counted in addition to their tasks. */
export function countsOfBoard(snapshot: StatusSnapshot): OutcomeCounts {
  return countOutcomes(outcomesOfTasks(snapshot).values());
}

export function formatSummaryLine(snapshot: StatusSnapshot): string {
  const counts = countsOfBoard(snapshot);
  const parts = [`${outcomePercent(counts)} %`, countsLine(snapshot.tasks)];
  const cost = costText(totalCost(snapshot));
  if (cost !== '') parts.push(cost);
  const open = openQuestions(snapshot).length;
  if (open > 0) parts.push(open === 1 ? '1 question is open' : `${open} questions are open`);
  return parts.join(' · ');
}

/** Returns null if tasks exist. A snapshot of one epic contains only that epic. */
export function noTasks({ tasks, epics }: StatusSnapshot): string | null {
  if (tasks.length > 0) return null;
  const [only, ...others] = epics;
  const epic = only === undefined || others.length > 0 ? '' : ` -e ${only.id}`;
  return `No tasks. Add one with: drover add "…"${epic}`;
}

export function openQuestions(snapshot: StatusSnapshot): readonly QuestionView[] {
  return snapshot.questions.filter((question) => question.state === 'open');
}

/** The command that answers a question: with the first choice, and the others listed. */
export function answerCommand(question: QuestionView): string {
  const [first = '…', ...others] = question.choices.map(shellWord);
  const rest = others.length === 0 ? '' : `   (or: ${others.join(', ')})`;
  return `drover answer ${question.id} ${first}${rest}`;
}

/** Why landed commits wait, and the problems of the checkout. */
export function targetNotices({ target }: StatusSnapshot): readonly string[] {
  const { branch = null, pending_reason: reason, wrong = [] } = target ?? {};
  const states = wrong.map((state) => plainLine(describeWrongState(branch ?? '', state)));
  return [...(reason === undefined ? [] : [plainLine(reason)]), ...states];
}

export function targetLine(snapshot: StatusSnapshot): string | null {
  const { target } = snapshot;
  if (target === null || target.branch === null) return null;
  const sha = target.sha === null ? '' : ` at ${target.sha.slice(0, 10)}`;
  const commits = target.pending === 1 ? '1 commit waits' : `${target.pending} commits wait`;
  const pending = target.pending > 0 ? `; ${commits} for your checkout` : '';
  return `Target: ${plainLine(target.branch)}${sha}${pending}`;
}

function shellWord(text: string): string {
  const plain = plainLine(text);
  if (/^[A-Za-z0-9_.:@%+=/-]+$/u.test(plain)) return plain;
  return `'${plain.replaceAll("'", "'\\''")}'`;
}

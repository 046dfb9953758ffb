// Title and text of a pull request. Drover owns the text between its markers; people may write
// outside of them.

import { withVisible } from '../visible-text.ts';

export interface PullTextFacts {
  readonly epic: { readonly id: string; readonly title: string; readonly description: string };
  readonly tasks: readonly PullTask[];
  /** The gate that the work passed; null if nothing was tested. */
  readonly gate: string | null;
  readonly target: string;
  /** Numbers of the pull requests that it reverts; empty if it adds work. */
  readonly undoes: readonly number[];
  /**
   * The level of a stack, and the number of the open pull request below it. Absent for a whole
   * epic.
   */
  readonly level?: { readonly below: number | null };
}

export interface PullTask {
  readonly id: string;
  readonly title: string;
  readonly criteria: readonly string[];
  /** Findings of a reviewing agent that did not block the landing. Absent if it had none. */
  readonly findings?: readonly string[];
}

const titleMax = 200;
const bodyMax = 60_000;
const begin = '<!-- drover:begin -->';
const end = '<!-- drover:end -->';

/**
 * Hidden in the text, so that Drover recognizes a pull request even if the response to its creation
 * was lost.
 */
function pullMarker(epicId: string): string {
  return `<!-- drover:epic ${epicId} -->`;
}

export function pullTitle({
  epic: { id, title },
  tasks,
  undoes,
  level,
}: Pick<PullTextFacts, 'epic' | 'tasks' | 'undoes' | 'level'>): string {
  const own = level === undefined ? title : tasks.map((task) => task.title).join(', ');
  const line = withVisible(own.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim());
  if (undoes.length > 0) return `Undo ${id}: ${line}`.replace(/: $/u, '').slice(0, titleMax);
  if (line !== '') return line.slice(0, titleMax);
  return level === undefined ? id : `More changes of ${id}`;
}

/** `present`: the current text on the forge. */
export function pullBody(present: string, given: PullTextFacts): string {
  const own = [begin, pullMarker(given.epic.id), ...ownLines(given), end].join('\n');
  const from = present.indexOf(begin);
  const to = present.indexOf(end, from);
  if (from === -1 || to === -1) return present === '' ? own : `${own}\n\n${present}`;
  return `${present.slice(0, from)}${own}${present.slice(to + end.length)}`;
}

function ownLines(given: PullTextFacts): readonly string[] {
  return given.undoes.length === 0 ? linesOfWork(given) : linesOfUndo(given);
}

function linesOfUndo({ epic, tasks, gate, target, undoes }: PullTextFacts): readonly string[] {
  const numbers = undoes.map((number) => `#${number}`).join(', ');
  return [
    `Reverts ${numbers}, the work of \`${epic.id}\`:`,
    '',
    ...tasks.map(({ id, title }) => `- \`${id}\` ${plain(title)}`),
    '',
    testedLine(gate, target),
    '',
    'After the merge, these tasks are paused in Drover.',
  ];
}

function testedLine(gate: string | null, target: string): string {
  return gate === null
    ? 'Nothing was tested before this was pushed: the project has no gate.'
    : `Tested together with \`${target}\` before it was pushed: \`${gate.replaceAll('`', "'")}\``;
}

function linesOfWork({ epic, tasks, gate, target, level }: PullTextFacts): readonly string[] {
  const description = level === undefined ? plain(epic.description) : levelWords(epic, level);
  const closes = tasks.flatMap(({ id }) => /^gh-(\d+)$/u.exec(id)?.[1] ?? []);
  const list = tasks.flatMap(({ id, title, criteria, findings = [] }) => [
    `- \`${id}\` ${plain(title)}`,
    ...criteria.map((each) => `  - ${plain(each)}`),
    ...findings.map((each) => `  - Review: ${plain(each)}`),
  ]);
  const text = [
    ...(description === '' ? [] : [description.slice(0, bodyMax / 2), '']),
    '**Tasks**',
    '',
    ...list,
    '',
    testedLine(gate, target),
    '',
    `To undo it after the merge: \`drover undo ${epic.id}\`.`,
    ...(closes.length === 0 ? [] : ['', ...closes.map((number) => `Closes #${number}`)]),
  ];
  return text.join('\n').slice(0, bodyMax).split('\n');
}

function levelWords(
  { id, title }: PullTextFacts['epic'],
  { below }: NonNullable<PullTextFacts['level']>,
): string {
  const part = `A part of \`${id}\` ${plain(title)}`;
  return below === null ? part : `${part}, on top of #${below}: merge that one first.`;
}

/** Text of tasks: no tag, no mention of a user and no closing keyword of its own. */
function plain(text: string): string {
  return withVisible(text)
    .replaceAll('<', '&lt;')
    .replaceAll('@', '&#64;')
    .replaceAll(/#(?=\d)/gu, '&#35;')
    .trim();
}

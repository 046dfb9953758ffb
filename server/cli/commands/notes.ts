// notes: list, add, keep, drop. review: the latest review of a task by an agent, and overruling its
// findings.

import { findingLine } from '../../core/review/review.ts';
import type { NoteView } from '../../protocol/requests/notes.ts';
import type { ReviewView } from '../../protocol/requests/reviews.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export async function notes(
  context: CommandContext,
  { epic }: { readonly epic?: string },
): Promise<number> {
  const client = await context.client('data');
  const found = await client.call('notes.list', epic === undefined ? {} : { epic });
  const text =
    found.length === 0
      ? 'No notes. Add one with "drover notes add <text>".'
      : found.map(noteLines).join('\n');
  context.answer(found, text);
  return exitCodes.done;
}

export async function notesAdd(
  context: CommandContext,
  text: string,
  { epic, at }: { readonly epic?: string; readonly at?: string },
): Promise<number> {
  const client = await context.client('data');
  const note = await client.call('notes.add', {
    text,
    ...(epic !== undefined && { epic }),
    ...(at !== undefined && { at }),
  });
  context.answer(note, noteLines(note));
  return exitCodes.done;
}

export async function notesKeep(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const note = await client.call('notes.keep', { id });
  context.answer(note, `${note.id} now counts for the whole project.`);
  return exitCodes.done;
}

export async function notesDrop(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const done = await client.call('notes.drop', { id });
  context.answer(done, `${done.dropped} is removed.`);
  return exitCodes.done;
}

function noteLines(note: NoteView): string {
  const scope = note.kept ? 'project' : (note.epic_id ?? 'not kept yet');
  const by = note.task_id === null ? 'a person' : note.task_id;
  const at = note.path === null ? '' : `, ${note.path}:${note.line ?? 0}`;
  const uses = `in ${note.uses} ${note.uses === 1 ? 'prompt' : 'prompts'}`;
  return `${note.id}  ${plainLine(note.text)}\n    ${plainLine(`${scope}; by ${by}${at}; ${uses}`)}`;
}

export async function review(
  context: CommandContext,
  id: string,
  { overrule }: { readonly overrule?: number },
): Promise<number> {
  const client = await context.client('data');
  if (overrule === undefined) {
    const shown = await client.call('review.show', { id });
    context.answer(shown, shown === null ? `No agent has reviewed ${id}.` : reviewText(shown));
    return exitCodes.done;
  }
  const changed = await client.call('review.overrule', { id, finding: overrule });
  context.answer(changed, reviewText(changed));
  if (changed.blocking > 0) return exitCodes.done;
  const { status } = await client.call('task.show', { id });
  if (status === 'needs_review')
    context.tell(`No blocking finding is left. Run "drover approve ${id}" to land it.`);
  return exitCodes.done;
}

function reviewText(review: ReviewView): string {
  const by = review.model === null ? review.agent : `${review.agent} (${review.model})`;
  const head = `${review.task_id}, attempt ${review.attempt}, reviewed by ${by}: ${review.verdict}`;
  const criteria = review.criteria.map(
    ({ text, met, evidence }) => `  [${met ? 'x' : ' '}] ${text} (${evidence})`,
  );
  const findings = review.findings.map((finding, at) => {
    const { overruled, severity } = finding;
    const kind = overruled ? 'overruled' : severity;
    return `  ${at + 1}. ${kind}: ${findingLine({ ...finding, isOverruled: overruled })}`;
  });
  return [head, ...criteria, ...findings].map((line) => indented(line)).join('\n');
}

/** Everything but the leading spaces comes from an agent. */
function indented(line: string): string {
  return `${/^ */u.exec(line)?.[0] ?? ''}${plainLine(line)}`;
}

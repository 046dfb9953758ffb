// notes: list, add, keep, drop.

import type { NoteView } from '../../protocol/requests/notes.ts';
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

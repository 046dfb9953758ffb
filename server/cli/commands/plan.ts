// init, epics, tasks: the commands that build the plan.

import { ruleFields, type TaskRuleOptions } from '../../core/exchange/task-rules.ts';
import { basename, resolve } from 'node:path';
import { withoutCriteria } from '../../core/exchange/import-record.ts';
import { listPlaceholders, type TaskTemplates } from '../../core/exchange/templates.ts';
import {
  attachmentBytesMax,
  attachmentText,
  detectImageType,
} from '../../core/plan/attachments.ts';
import type { Client, EpicView, Params, TaskView } from '../../protocol/api.ts';
import type { TaskFields } from '../../protocol/task-fields.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import type { FlagValues } from '../flags-of.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { tellNextRun } from './next-run.ts';
import { inputRefusal, readInputFile, textOfBytes } from '../read-input.ts';

/** Maximum size of a description. Longer input is refused before it is read. */
const descriptionBytesMax = 1024 * 1024;

type TextFields = 'description' | 'parent' | 'priority' | 'blocked_by' | 'type' | 'accept';

export interface TaskOptions extends TaskRuleOptions, FlagValues<Pick<TaskFields, TextFields>> {
  readonly descriptionFile?: string;
  /** Image files to show at the end of the description. */
  readonly attach?: readonly string[];
  readonly label?: TaskFields['labels'];
  /** The old name of `gate`. */
  readonly testCommand?: string;
}

export type EpicOptions = FlagValues<Omit<Params<'epic.edit'>, 'id'>>;

export interface AddOptions
  extends TaskOptions, FlagValues<Pick<Params<'task.add'>, 'epic' | 'template' | 'set'>> {}

export interface EditOptions extends TaskOptions {
  readonly title?: string;
  /** `false` from `--no-epic`. `true` is the parser's default and has no meaning. */
  readonly epic?: string | boolean;
  readonly addBlocker?: readonly string[];
  readonly removeBlocker?: readonly string[];
}

export async function add(
  context: CommandContext,
  givenTitle: string,
  options: AddOptions,
): Promise<number> {
  const { title, parent } = splitSubTaskTitle(givenTitle);
  const fields = await taskFieldsOf(context, options);
  const params: Params<'task.add'> = {
    ...fields,
    title,
    ...(options.epic !== undefined && { epic: options.epic }),
    ...(parent !== null && fields.parent === undefined && parent),
    ...(options.template !== undefined && { template: options.template }),
    ...(options.set !== undefined && { set: options.set }),
  };
  const images = await readImages(context, options.attach);
  const client = await context.client('data');
  const task = await client.call('task.add', {
    ...params,
    ...(await withImages(client, images, () => Promise.resolve(params.description ?? ''))),
  });
  tellWarnings(context, task.warnings);
  const { id, status, warnings } = task;
  context.answer({ id, status, warnings }, `${id}  ${plainLine(task.title)}  (${status})`);
  return exitCodes.done;
}

export async function templates(context: CommandContext): Promise<number> {
  const client = await context.client('data');
  const { config } = await client.call('status', {});
  // Comes from our own settings, which were validated by the same code.
  const all = (config['templates']?.value ?? {}) as TaskTemplates;
  const list = Object.entries(all).map(([name, template]) => ({
    name,
    title: template.title ?? null,
    placeholders: listPlaceholders(template),
  }));
  const lines = list.map(({ name, title, placeholders }) => {
    const needs = placeholders.length === 0 ? '' : `  (needs ${placeholders.join(', ')})`;
    return `${name}${title === null ? '' : `  ${plainLine(title)}`}${needs}`;
  });
  const none = 'No templates are defined. Add one as [templates.<name>] to .drover.toml.';
  context.answer({ templates: list }, lines.length === 0 ? none : lines.join('\n'));
  return exitCodes.done;
}

export async function edit(
  context: CommandContext,
  id: string,
  options: EditOptions,
): Promise<number> {
  const params: Params<'task.edit'> = {
    ...(await taskFieldsOf(context, options)),
    id,
    ...(options.title !== undefined && { title: options.title }),
    ...(typeof options.epic === 'string' && { epic: options.epic }),
    ...(options.epic === false && { epic: null }),
    ...(options.addBlocker !== undefined && { add_blockers: options.addBlocker }),
    ...(options.removeBlocker !== undefined && { remove_blockers: options.removeBlocker }),
  };
  const images = await readImages(context, options.attach);
  const client = await context.client('data');
  const present = async (): Promise<string> =>
    params.description ?? descriptionWithoutCriteria(await client.call('task.show', { id }));
  const task = await client.call('task.edit', {
    ...params,
    ...(await withImages(client, images, present)),
  });
  tellWarnings(context, task.warnings);
  if (options.removeBlocker !== undefined) await tellNextRun(context, client, id);
  context.answer(task, taskSentence(task));
  return exitCodes.done;
}

/** `task-x.5 Title` creates sub-task 5 of `task-x`. */
export function splitSubTaskTitle(given: string): {
  readonly title: string;
  readonly parent: { readonly parent: string; readonly sequence: number } | null;
} {
  const match = /^(task-[A-Za-z0-9_-]+(?:\.\d{1,4}){0,2})\.(\d{1,4})\s+(\S[^]*)$/u.exec(given);
  const [, parent, sequence, title] = match ?? [];
  if (parent === undefined || sequence === undefined || title === undefined) {
    return { title: given, parent: null };
  }
  return { title, parent: { parent, sequence: Number(sequence) } };
}

export async function epicAdd(
  context: CommandContext,
  title: string,
  { description, runsOn }: EpicOptions,
): Promise<number> {
  const client = await context.client('data');
  const epic = await client.call('epic.add', {
    title,
    ...(description !== undefined && { description }),
    ...(runsOn !== undefined && { runs_on: runsOn }),
  });
  context.answer(epic, epicSentence(epic));
  return exitCodes.done;
}

export async function epicList(context: CommandContext): Promise<number> {
  const client = await context.client('data');
  const epics = await client.call('epic.list', {});
  const lines = epics.map(epicSentence);
  context.answer(epics, lines.length === 0 ? 'No epics yet.' : lines.join('\n'));
  return exitCodes.done;
}

export async function epicShow(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const epic = await client.call('epic.show', { id });
  const description = epic.description === '' ? [] : [plainText(epic.description)];
  const tasks = epic.tasks.map((task) => `  ${taskSentence(task)}`);
  context.answer(epic, [epicSentence(epic), ...description, ...tasks].join('\n'));
  return exitCodes.done;
}

export async function epicEdit(
  context: CommandContext,
  id: string,
  options: EpicOptions,
): Promise<number> {
  const { title, description, runsOn } = options;
  const client = await context.client('data');
  const epic = await client.call('epic.edit', {
    id,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(runsOn !== undefined && { runs_on: runsOn }),
  });
  context.answer(epic, epicSentence(epic));
  return exitCodes.done;
}

export async function epicClose(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const epic = await client.call('epic.close', { id });
  context.answer(epic, epicSentence(epic));
  return exitCodes.done;
}

export function taskSentence(task: TaskView): string {
  return `${task.id}  ${plainLine(task.title)}  (${task.status})`;
}

function epicSentence(epic: EpicView): string {
  const { completed, total } = epic.counts;
  return `${epic.id}  ${plainLine(epic.title)}  (${epic.status}, ${completed} of ${total} tasks, ${epic.progress} %)`;
}

function tellWarnings(context: CommandContext, warnings: readonly string[]): void {
  for (const warning of warnings) context.tell(`warning: ${plainLine(warning)}`);
}

async function taskFieldsOf(context: CommandContext, options: TaskOptions): Promise<TaskFields> {
  const description = await descriptionOf(context, options);
  const gate = options.gate ?? options.testCommand;
  return {
    ...(description !== undefined && { description }),
    ...(options.parent !== undefined && { parent: options.parent }),
    ...(options.priority !== undefined && { priority: options.priority }),
    ...(options.blockedBy !== undefined && { blocked_by: options.blockedBy }),
    ...(options.type !== undefined && { type: options.type }),
    ...(options.label !== undefined && { labels: options.label }),
    ...(options.accept !== undefined && { accept: options.accept }),
    ...(ruleFields({ ...options, gate }) as TaskFields),
  };
}

async function descriptionOf(
  context: CommandContext,
  { description, descriptionFile }: TaskOptions,
): Promise<string | undefined> {
  if (descriptionFile === undefined) return description;
  return await readTextInput(context, descriptionFile, 'description');
}

interface Image {
  readonly label: string;
  readonly content: string;
}

/** Read before any request, so that an unreadable file changes nothing. */
async function readImages(
  context: CommandContext,
  files: readonly string[] = [],
): Promise<readonly Image[]> {
  const images: Image[] = [];
  for (const file of files) {
    const limits = {
      bytesMax: attachmentBytesMax,
      fault: `The image ${file} cannot be attached`,
    };
    const bytes = await readInputFile(resolve(context.directory, file), limits);
    if (detectImageType(bytes) === null) {
      throw inputRefusal(limits, 'it is not a PNG, JPEG, GIF or WebP image; convert it to one');
    }
    images.push({ label: basename(file), content: bytes.toString('base64') });
  }
  return images;
}

/** The description with the images at its end; empty if it has neither. */
async function withImages(
  client: Client,
  images: readonly Image[],
  description: () => Promise<string>,
): Promise<Pick<TaskFields, 'description'>> {
  if (images.length === 0) return {};
  const texts: string[] = [];
  for (const { label, content } of images) {
    const { name } = await client.call('attachment.add', { content });
    texts.push(attachmentText(name, label));
  }
  return {
    description: [await description(), ...texts].filter((text) => text !== '').join('\n\n'),
  };
}

function descriptionWithoutCriteria({ description, acceptance_criteria }: TaskView): string {
  return withoutCriteria(description, acceptance_criteria).trim();
}

/** Reads a text from a file or from standard input (`-`). `what` names it in error messages. */
export async function readTextInput(
  context: CommandContext,
  file: string,
  what: string,
): Promise<string> {
  const isInput = file === '-';
  const fault = isInput
    ? `The ${what} on standard input cannot be used`
    : `The ${what} file ${file} cannot be used`;
  const limits = { bytesMax: descriptionBytesMax, fault };
  const bytes = isInput
    ? await context.surroundings.readStdin()
    : await readInputFile(resolve(context.directory, file), limits);
  return textOfBytes(bytes, limits);
}

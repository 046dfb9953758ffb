// Task templates in the settings file: the common text of one kind of task, with {{placeholders}}
// for the variable parts.

import { err, ok, Refusal, type Result } from '../failure.ts';
import { shown } from './shown-values.ts';
import { agentKinds, taskTypes, testModes, testScopes } from '../plan/task.ts';

/** Uses the field names of requests. A key exists only if the file contains it. */
export interface TaskTemplate {
  /** May contain {{title}}, the title given with the task. */
  readonly title?: string;
  readonly description?: string;
  readonly accept?: readonly string[];
  readonly labels?: readonly string[];
  readonly type?: string;
  readonly priority?: number | string;
  readonly agent?: string;
  readonly model?: string;
  readonly gate?: string;
  readonly test_mode?: string;
  readonly test_scope?: string;
  readonly max_attempts?: number;
  readonly plan?: boolean;
  /** Titles of sub-tasks in order. */
  readonly sub_tasks?: readonly string[];
}

export type TaskTemplates = Readonly<Record<string, TaskTemplate>>;

type FieldKind = 'text' | 'texts' | 'number' | 'number or text' | 'flag' | readonly string[];

const fieldKinds: { readonly [K in keyof Required<TaskTemplate>]: FieldKind } = {
  title: 'text',
  description: 'text',
  accept: 'texts',
  labels: 'texts',
  type: taskTypes,
  priority: 'number or text',
  agent: agentKinds,
  model: 'text',
  gate: 'text',
  test_mode: testModes,
  test_scope: testScopes,
  max_attempts: 'number',
  plan: 'flag',
  sub_tasks: 'texts',
};

const templatesMax = 100;
const subTasksMax = 50;
const nameRule = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const placeholder = /\{\{\s*([A-Za-z][A-Za-z0-9_-]{0,63})\s*\}\}/g;

/** Reads `[templates.<name>]`. The error names the expected value. */
export function readTemplates(raw: unknown): Result<TaskTemplates, string> {
  if (!isTable(raw)) return err('tables of templates, as [templates.bug]');
  const names = Object.keys(raw);
  if (names.length > templatesMax) return err(`at most ${templatesMax} templates`);
  const templates: [string, TaskTemplate][] = [];
  for (const name of names) {
    if (!nameRule.test(name))
      return err(`a template's name of letters, digits, - and _ in place of ${shown(name)}`);
    const fault = faultOf(raw[name]);
    if (fault !== null) return err(`${fault} in [templates.${name}]`);
    templates.push([name, raw[name] as TaskTemplate]);
  }
  return ok(Object.fromEntries(templates));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faultOf(raw: unknown): string | null {
  if (!isTable(raw)) return 'a table';
  for (const [key, value] of Object.entries(raw)) {
    if (!Object.hasOwn(fieldKinds, key))
      return `one of ${Object.keys(fieldKinds).join(', ')} in place of ${shown(key)}`;
    const kind = fieldKinds[key as keyof TaskTemplate];
    const expected = isOfKind(kind, value) ? null : wordsOf(kind);
    if (expected !== null) return `${expected} for \`${key}\``;
  }
  const { gate, sub_tasks: subTasks } = raw as TaskTemplate;
  // The gate is a shell command, so user input must not be inserted into it.
  if (gate !== undefined && placeholdersIn([gate]).length > 0)
    return 'a command without placeholders for `gate`';
  if ((subTasks?.length ?? 0) > subTasksMax) return `at most ${subTasksMax} sub_tasks`;
  return null;
}

function isOfKind(kind: FieldKind, value: unknown): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string' && !value.includes('\0');
    case 'texts':
      return Array.isArray(value) && value.every((item) => isOfKind('text', item));
    case 'number':
      return typeof value === 'number' && Number.isSafeInteger(value);
    case 'number or text':
      return isOfKind('number', value) || isOfKind('text', value);
    case 'flag':
      return typeof value === 'boolean';
    default:
      return typeof value === 'string' && kind.includes(value);
  }
}

function wordsOf(kind: FieldKind): string {
  switch (kind) {
    case 'text':
      return 'a string';
    case 'texts':
      return 'a list of strings';
    case 'number':
      return 'a whole number';
    case 'number or text':
      return 'a whole number or a word';
    case 'flag':
      return 'true or false';
    default:
      return `one of ${kind.join(', ')}`;
  }
}

function placeholdersIn(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => [...text.matchAll(placeholder)].map(([, name]) => name));
  return [...new Set(names.flatMap((name) => name ?? []))];
}

/** In file order. `title` stands for the title that is given with the task. */
export function listPlaceholders(template: TaskTemplate): readonly string[] {
  const { title, description, accept, labels, sub_tasks: subTasks } = template;
  const texts = [title, description].flatMap((text) => text ?? []);
  return placeholdersIn([...texts, ...(accept ?? []), ...(labels ?? []), ...(subTasks ?? [])]);
}

/** Fills in every placeholder. The result always has a title. */
export function fillTemplate(
  templates: TaskTemplates,
  name: string,
  given: { readonly title: string; readonly values: Readonly<Record<string, string>> },
): TaskTemplate & { readonly title: string } {
  const template = templateOf(templates, name);
  const title = given.title.trim();
  const values = new Map(Object.entries(given.values));
  if (title !== '') values.set('title', title);
  const known = listPlaceholders(template);
  const unknown = [...values.keys()].find((key) => key !== 'title' && !known.includes(key));
  if (unknown !== undefined)
    throw new Refusal(
      'bad_value',
      `The template "${name}" has no placeholder ${shown(unknown)}; ${knownWords(known)}.`,
    );
  const missing = known.filter((key) => !values.has(key));
  if (missing.length > 0) throw new Refusal('bad_value', missingWords(name, missing, known));
  const filled = filledTexts(template, (text) =>
    text.replaceAll(placeholder, (_whole, key: string) => values.get(key) ?? ''),
  );
  // A template title without {{title}} is only for tasks without a title of their own.
  const hasPlace =
    template.title !== undefined && placeholdersIn([template.title]).includes('title');
  const own = title !== '' && !hasPlace ? title : (filled.title ?? title);
  if (own === '')
    throw new Refusal('bad_value', `The template "${name}" has no title; give one with the task.`);
  return { ...template, ...filled, title: own };
}

function templateOf(templates: TaskTemplates, name: string): TaskTemplate {
  const found = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(templates);
  const known =
    names.length === 0
      ? 'the settings have none; write one as [templates.<name>] into .drover.toml'
      : `defined templates: ${names.join(', ')}`;
  throw new Refusal('unknown_id', `Template ${shown(name)} does not exist; ${known}.`);
}

function filledTexts(template: TaskTemplate, fill: (text: string) => string): TaskTemplate {
  const { title, description, accept, labels, sub_tasks: subTasks } = template;
  return {
    ...(title === undefined ? {} : { title: fill(title).trim() }),
    ...(description === undefined ? {} : { description: fill(description) }),
    ...(accept === undefined ? {} : { accept: accept.map(fill) }),
    ...(labels === undefined ? {} : { labels: labels.map(fill) }),
    ...(subTasks === undefined ? {} : { sub_tasks: subTasks.map(fill) }),
  };
}

function knownWords(known: readonly string[]): string {
  return known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
}

function missingWords(name: string, missing: readonly string[], known: readonly string[]): string {
  const ways = missing.map((key) => (key === 'title' ? 'a title' : `--set ${key}=…`)).join(' ');
  return `The template "${name}" needs ${missing.join(', ')}: give ${ways}; ${knownWords(known)}.`;
}

// spec: turns a design into a plan, shows it, and writes it after the user confirms it.

import { writeFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Refusal, type Failure } from '../../core/failure.ts';
import type { ImportResultView } from '../../protocol/api.ts';
import { linesWithEdges, proposeEdges, type ProposedEdge } from '../../core/spec/shared-files.ts';
import type { SpecPlanView } from '../../protocol/spec-plan.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { readDesign } from '../read-design.ts';
import { edgesText, planCounts, planText } from '../render/plan-text.ts';
import { createPaint } from '../render/style.ts';

const savedMax = 99;
const columnsMax = 100;
/** Limit for the names of the plan's files, as stored in the feed. */
const nameCharactersMax = 200;

export interface SpecOptions {
  readonly epic?: boolean;
  readonly model?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly out?: string;
  readonly order?: boolean;
}

export async function spec(
  context: CommandContext,
  names: readonly string[],
  options: SpecOptions,
): Promise<number> {
  const root = await context.root();
  checkCanEnd(context, options);
  const documents = await readDesign(context, names);
  // Reports an unusable database before a model call costs money.
  (await context.client('data')).close();
  if (options.out === undefined) return await planAndWrite(context, { root, documents, options });
  const path = resolve(context.directory, options.out);
  await reserve(path, options.out);
  let isWritten = false;
  try {
    const planned = await plan(context, { root, documents, options });
    if (typeof planned === 'number') return planned;
    await writeFile(path, planned.jsonl);
    isWritten = true;
    const text = `${previewOf(context, planned)}\n\n${savedText(options.out, planned)}`;
    answer(context, planned, { file: path, imported: null }, text);
    return exitCodes.done;
  } finally {
    if (!isWritten) await rm(path, { force: true });
  }
}

interface Wanted {
  readonly root: string;
  readonly documents: Awaited<ReturnType<typeof readDesign>>;
  readonly options: SpecOptions;
}

/**
 * Checked before the model is called, because its answer costs time and money and could not be
 * confirmed.
 */
function checkCanEnd({ surroundings }: CommandContext, options: SpecOptions): void {
  const isDecided = options.yes === true || options.dryRun === true || options.out !== undefined;
  if (isDecided || surroundings.askLine !== null) return;
  throw new Refusal(
    'needs_answer',
    'Cannot ask for your approval of the plan without a terminal. Use --yes to add it, --out <file> to save it for editing, or --dry-run to see it.',
  );
}

/** Returns the plan, or the exit code if none was made. */
async function plan(
  context: CommandContext,
  { root, documents, options }: Wanted,
): Promise<SpecPlanView | number> {
  const { planFromSpec } = await context.surroundings.loadBackends();
  const interrupt = new AbortController();
  const off = context.surroundings.onInterrupt(() => interrupt.abort());
  try {
    const planned = await planFromSpec({
      root,
      documents,
      model: options.model ?? null,
      one_epic: options.epic === true,
      env: context.surroundings.env,
      signal: interrupt.signal,
      onNote: (text) => context.tell(plainLine(text)),
    });
    if (planned.ok) return options.order === true ? ordered(planned.value) : planned.value;
    if (interrupt.signal.aborted) return exitCodes.interrupted;
    return tellFailure(context, planned.error);
  } finally {
    off();
  }
}

function tellFailure(context: CommandContext, { kind, message }: Failure): number {
  const text = `${plainLine(message)} Nothing was written.`;
  context.tell(`drover: ${text}`);
  if (context.json) context.printJson({ error: { kind, message: text } });
  return exitCodes.failed;
}

async function planAndWrite(context: CommandContext, wanted: Wanted): Promise<number> {
  const { options, documents } = wanted;
  const names = documents.map(({ name }) => name);
  const planned = await plan(context, wanted);
  if (typeof planned === 'number') return planned;
  // Runs the project's checks first, so that a plan that the user confirms can be written.
  const source = `plan of ${names.join(', ')}`.slice(0, nameCharactersMax);
  const bringPlan = { planned, source };
  const checked = await bring(context, bringPlan, true);
  if (typeof checked === 'number') return checked;
  const preview = previewOf(context, planned);
  if (options.dryRun === true) {
    const text = `${preview}\n\nWould add ${planCounts(planned)}; nothing was written.`;
    answer(context, planned, { file: null, imported: null }, text);
    return exitCodes.done;
  }
  const show = context.json ? context.tell.bind(context) : context.say.bind(context);
  show(preview);
  show('');
  const choice = options.yes === true ? 'write' : await choose(context, planned);
  if (choice === 'order') return await write(context, { ...bringPlan, planned: ordered(planned) });
  if (choice === 'save') return await save(context, planned);
  if (choice === 'drop') {
    throw new Refusal('declined', 'Nothing was written. Answer s to save a plan and edit it.');
  }
  return await write(context, bringPlan);
}

async function write(context: CommandContext, plan: Bringing): Promise<number> {
  const { planned } = plan;
  const imported = await bring(context, plan, false);
  if (typeof imported === 'number') return imported;
  const text = `Added ${planCounts(planned)}. Next: drover status --tree, then drover run.`;
  answer(context, planned, { file: null, imported: imported.imported }, text);
  return exitCodes.done;
}

/** Makes tasks that name the same files wait for each other. */
function ordered(planned: SpecPlanView): SpecPlanView {
  const edges = edgesOf(planned);
  const tasks = planned.tasks.map((task) => {
    const more = edges.filter((edge) => edge.task === task.id).map(({ waitsFor }) => waitsFor);
    return { ...task, blocked_by: [...task.blocked_by, ...more] };
  });
  return { ...planned, tasks, jsonl: linesWithEdges(planned.jsonl, edges) };
}

function edgesOf({ tasks }: Pick<SpecPlanView, 'tasks'>): readonly ProposedEdge[] {
  return proposeEdges(
    tasks.map(({ blocked_by: blockedBy, acceptance_criteria: criteria, ...task }) => {
      return { ...task, blockedBy, criteria };
    }),
  );
}

function previewOf({ surroundings, color }: CommandContext, planned: SpecPlanView): string {
  const width = Math.min(surroundings.stdout.columns, columnsMax);
  const plan = planText(planned, { width, paint: createPaint(color) });
  const edges = edgesOf(planned);
  return edges.length === 0 ? plan : `${plan}\n\n${edgesText(planned, edges, width)}`;
}

type Choice = 'write' | 'order' | 'save' | 'drop';

async function choose({ surroundings }: CommandContext, planned: SpecPlanView): Promise<Choice> {
  const order = edgesOf(planned).length === 0 ? '' : 'o = yes, with these dependencies, ';
  const question = `Add ${planCounts(planned)} to the project? [y = yes, ${order}s = save to edit, N = no] `;
  const said = (await surroundings.askLine?.(question))?.trim() ?? '';
  if (/^y(?:es)?$/iu.test(said)) return 'write';
  if (order !== '' && /^o(?:rder)?$/iu.test(said)) return 'order';
  return /^s(?:ave)?$/iu.test(said) ? 'save' : 'drop';
}

/** Saves under the first free name, so that an edited plan is not overwritten. */
async function save(context: CommandContext, planned: SpecPlanView): Promise<number> {
  for (let number = 1; number <= savedMax; number += 1) {
    const name = number === 1 ? 'plan.jsonl' : `plan-${number}.jsonl`;
    const path = resolve(context.directory, name);
    try {
      await writeFile(path, planned.jsonl, { flag: 'wx' });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      throw new Refusal('file', `The plan cannot be written to ${name}: ${message}.`);
    }
    answer(context, planned, { file: path, imported: null }, savedText(name, planned));
    return exitCodes.done;
  }
  throw new Refusal('file', `This folder already has ${savedMax} saved plans. Remove some.`);
}

function savedText(name: string, planned: SpecPlanView): string {
  return `Wrote ${name}: ${planCounts(planned)}. Edit it, then: drover import ${name}`;
}

/**
 * Imports like `drover import`: in one transaction with its checks. Returns an exit code if it is
 * refused.
 */
interface Bringing {
  readonly planned: SpecPlanView;
  readonly source: string;
}

async function bring(
  context: CommandContext,
  { planned, source }: Bringing,
  dryRun: boolean,
): Promise<ImportResultView | number> {
  const client = await context.client('data');
  try {
    const result = await client.call('import', {
      text: planned.jsonl,
      bad_utf8_lines: [],
      file: source,
      format: 'jsonl',
      dry_run: dryRun,
    });
    const [first] = result.errors;
    if (first === undefined) return result;
    const message = `The plan cannot be written: ${plainLine(`${first.id ?? ''} ${first.message}`)}; run the command again.`;
    throw new Refusal('bad_plan', message);
  } finally {
    client.close();
  }
}

function answer(
  context: CommandContext,
  { source, model, usage, epics, tasks }: SpecPlanView,
  more: { readonly file: string | null; readonly imported: ImportResultView['imported'] | null },
  text: string,
): void {
  context.answer({ source, model, usage, epics, tasks, ...more }, text);
}

/**
 * Created before the model is called, so that a plan is not lost because it cannot be saved. Never
 * overwrites a file.
 */
async function reserve(path: string, name: string): Promise<void> {
  try {
    await writeFile(path, '', { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EEXIST' ? 'it already exists; name another file or remove it' : message;
    throw new Refusal('file', `The plan cannot be written to ${name}: ${reason}.`);
  }
}

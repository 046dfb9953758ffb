// import github: takes issues into the plan, after a person has seen what they become.

import { Refusal } from '../../core/failure.ts';
import { issueName, type IssueQuery } from '../../core/forge/issue.ts';
import {
  type Gathering,
  issueId,
  type IssuePlan,
  type IssueTask,
  jsonlOfIssues,
  type LeftOut,
  planOfIssues,
  withoutWaiting,
} from '../../core/forge/issue-plan.ts';
import type { Client, ImportResultView } from '../../protocol/api.ts';
import type { PlannedTaskView } from '../../protocol/spec-plan.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { planCounts, planText } from '../render/plan-text.ts';
import { paintOf } from '../render/style.ts';

export interface ImportIssuesOptions {
  readonly repo?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const columnsMax = 100;

export async function importIssues(
  context: CommandContext,
  words: readonly string[],
  options: ImportIssuesOptions,
): Promise<number> {
  const root = await context.root();
  const { readIssues } = await context.surroundings.loadBackends();
  const query = queryOf(words);
  const { repository, issues } = await readIssues({
    root,
    env: context.surroundings.env,
    slug: options.repo ?? null,
    query,
  });
  const home = `${repository.owner}/${repository.name}`;
  const whole = planOfIssues(issues, home, gatheringOf(query));
  const client = await context.client('data');
  const isPlanned = await plannedAmong(client, whole, home);
  const { plan, left } = withoutWaiting(whole, home, isPlanned);
  if (plan.tasks.length === 0) {
    const reason = left.length === 0 ? 'has no open issue that matches' : 'has none that can start';
    for (const each of left) context.tell(leftOutWords(each));
    throw new Refusal('bad_import', `${home} ${reason}: ${plainLine(words.join(' '))}.`);
  }
  return await showAndBring(context, { client, home, plan, left, options });
}

function queryOf(words: readonly string[]): IssueQuery {
  const numbers = words.map((word) => numberOf(word));
  if (numbers.every((number) => number !== null)) return { kind: 'numbers', numbers };
  const text = words.join(' ');
  const [, key, value = ''] = /^(label|milestone):(.+)$/su.exec(text) ?? [];
  if (key === 'label') return { kind: 'label', label: value };
  if (key === 'milestone') return { kind: 'milestone', milestone: value };
  return { kind: 'search', words: text };
}

/** Of `12`, `#12`, or the address of an issue's page. */
function numberOf(word: string): number | null {
  const digits = /^(?:#|https:\/\/[^?#]+\/issues\/)?(\d{1,9})$/u.exec(word)?.[1];
  return digits === undefined ? null : Number(digits);
}

function gatheringOf(query: IssueQuery): Gathering | null {
  switch (query.kind) {
    case 'numbers':
    case 'search':
      return null;
    case 'label':
      return { id: gatheringId('label', query.label), title: query.label };
    case 'milestone':
      return { id: gatheringId('milestone', query.milestone), title: query.milestone };
  }
}

function gatheringId(kind: string, name: string): string {
  const safe = name.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-');
  return `gh-${kind}-${safe}`.slice(0, 60).replace(/-+$/u, '');
}

/** An issue that is waited for and not read now may be in the plan since an earlier import. */
async function plannedAmong(
  client: Client,
  { tasks }: IssuePlan,
  home: string,
): Promise<(id: string) => boolean> {
  const ids = new Set(tasks.flatMap(({ outside }) => outside.map((ref) => issueId(ref, home))));
  const planned = new Set<string>();
  for (const id of ids) {
    try {
      await client.call('task.show', { id });
      planned.add(id);
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'unknown_id') throw error;
    }
  }
  return (id) => planned.has(id);
}

interface Shown {
  readonly client: Client;
  readonly home: string;
  readonly plan: IssuePlan;
  readonly left: readonly LeftOut[];
  readonly options: ImportIssuesOptions;
}

async function showAndBring(
  context: CommandContext,
  { client, home, plan, left, options }: Shown,
): Promise<number> {
  // The plan's own checks first: what a person agrees to can be written.
  const checked = await write(client, { plan, home }, true);
  const preview = previewOf(context, plan, left);
  const counts = countsOf(plan, checked);
  const shown = {
    epics: plan.epics,
    tasks: plan.tasks.map(taskViewOf),
    left_out: left.map(({ task, waitsFor }) => ({
      id: task.id,
      waits_for: waitsFor.map(issueName),
    })),
  };
  if (options.dryRun === true) {
    const text = `${preview}\n\nWould import ${counts}; nothing was written.`;
    context.answer({ ...checked, ...shown }, text);
    return exitCodes.done;
  }
  const show = context.json ? context.tell.bind(context) : context.say.bind(context);
  show(`${preview}\n`);
  if (options.yes !== true && !(await isConfirmed(context, counts))) {
    throw new Refusal('declined', 'Nothing was imported.');
  }
  const result = await write(client, { plan, home }, false);
  const text = `Imported ${counts} from ${home}. Next: drover status --tree, then drover run.`;
  context.answer({ ...result, ...shown }, text);
  return exitCodes.done;
}

function taskViewOf(task: IssueTask): PlannedTaskView {
  return {
    id: task.id,
    title: task.title,
    description: task.description,
    epic_id: task.epicId,
    type: task.type,
    priority: 'normal',
    blocked_by: task.blockedBy,
    acceptance_criteria: [],
  };
}

async function isConfirmed({ surroundings }: CommandContext, counts: string): Promise<boolean> {
  if (surroundings.askLine === null) {
    throw new Refusal(
      'needs_answer',
      'Cannot ask for your approval without a terminal. Use --yes to import, or --dry-run to see the plan.',
    );
  }
  const said = (await surroundings.askLine(`Import ${counts}? [y/N] `))?.trim() ?? '';
  return /^y(?:es)?$/iu.test(said);
}

async function write(
  client: Client,
  { plan, home }: Pick<Shown, 'plan' | 'home'>,
  dryRun: boolean,
): Promise<ImportResultView> {
  const result = await client.call('import', {
    text: jsonlOfIssues(plan),
    bad_utf8_lines: [],
    file: `issues of ${home}`,
    format: 'jsonl',
    dry_run: dryRun,
    update: true,
  });
  const [first] = result.errors;
  if (first === undefined) return result;
  throw new Refusal(
    'bad_import',
    `Nothing was imported: ${plainLine(`${first.id ?? ''}: ${first.message}`)}.`,
  );
}

function previewOf(
  { surroundings, color }: CommandContext,
  { epics, tasks }: IssuePlan,
  left: readonly LeftOut[],
): string {
  const width = Math.min(surroundings.stdout.columns, columnsMax);
  const byEpic = tasks.toSorted((a, b) => (a.epicId ?? '~').localeCompare(b.epicId ?? '~'));
  const shown = byEpic.map((task) => ({ ...taskViewOf(task), title: `${task.id} ${task.title}` }));
  const text = planText({ epics, tasks: shown }, { width, paint: paintOf(color) });
  return [text, ...left.map(leftOutWords)].join('\n');
}

function leftOutWords({ task, waitsFor }: LeftOut): string {
  const names = waitsFor.map((blocker) => issueName(blocker)).join(', ');
  const title = plainLine(task.title);
  return `Left out: ${task.id} "${title}" waits for ${names} (open). Import that as well, or import again once it is closed.`;
}

function countsOf(plan: IssuePlan, { imported, differs, unchanged }: ImportResultView): string {
  if (unchanged + differs.length === 0) return planCounts(plan);
  return `${imported.tasks} new tasks, ${differs.length} changed, ${unchanged} unchanged`;
}

// import github: adds issues to the plan after the user has seen the resulting tasks.

import { Refusal } from '../../core/failure.ts';
import type { Client, ImportResultView } from '../../protocol/api.ts';
import type { IssuePlanView } from '../../protocol/spec-plan.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { planCounts, planText } from '../render/plan-text.ts';
import { createPaint } from '../render/style.ts';

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
  const client = await context.client('data');
  const { repo } = options;
  const plan = await client.call('issues.plan', { words, ...(repo !== undefined && { repo }) });
  if (plan.tasks.length === 0) {
    for (const left of plan.left_out) context.tell(leftOutWords(left));
    const reason =
      plan.left_out.length === 0 ? 'has no open issue that matches' : 'has no issue that can start';
    const asked = plainLine(words.join(' '));
    throw new Refusal('bad_import', `${plan.repository} ${reason}: ${asked}.`);
  }
  // Runs the plan's checks first, so that a plan that the user confirms can be written.
  const checked = await write(client, plan, true);
  const counts = countsOf(plan, checked);
  const preview = previewOf(context, plan);
  if (options.dryRun === true) {
    const text = `${preview}\n\nWould import ${counts}; nothing was written.`;
    answer(context, plan, checked, text);
    return exitCodes.done;
  }
  const show = context.json ? context.tell.bind(context) : context.say.bind(context);
  show(`${preview}\n`);
  if (options.yes !== true && !(await isConfirmed(context, counts))) {
    throw new Refusal('declined', 'Nothing was imported.');
  }
  const result = await write(client, plan, false);
  const next = 'Next: drover status --tree, then drover run.';
  answer(context, plan, result, `Imported ${counts} from ${plan.repository}. ${next}`);
  return exitCodes.done;
}

function answer(
  context: CommandContext,
  { repository, epics, tasks, left_out }: IssuePlanView,
  result: ImportResultView,
  text: string,
): void {
  context.answer({ ...result, repository, plan: { epics, tasks }, left_out }, text);
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
  { jsonl, repository }: IssuePlanView,
  dryRun: boolean,
): Promise<ImportResultView> {
  const result = await client.call('import', {
    text: jsonl,
    bad_utf8_lines: [],
    file: `issues of ${repository}`,
    format: 'jsonl',
    dry_run: dryRun,
    update: true,
  });
  const [first] = result.errors;
  if (first === undefined) return result;
  const fault = plainLine(`${first.id ?? ''}: ${first.message}`);
  throw new Refusal('bad_import', `Nothing was imported: ${fault}.`);
}

function previewOf({ surroundings, color }: CommandContext, plan: IssuePlanView): string {
  const width = Math.min(surroundings.stdout.columns, columnsMax);
  // Tasks of one epic share a heading.
  const tasks = plan.tasks
    .toSorted((a, b) => (a.epic_id ?? '').localeCompare(b.epic_id ?? ''))
    .map((task) => ({ ...task, title: `${task.id} ${task.title}` }));
  const text = planText({ epics: plan.epics, tasks }, { width, paint: createPaint(color) });
  return [text, ...plan.left_out.map(leftOutWords)].join('\n');
}

function leftOutWords({ id, title, waits_for: names }: IssuePlanView['left_out'][number]): string {
  const what = `Left out: ${id} "${plainLine(title)}" waits for ${names.join(', ')} (open).`;
  return `${what} Import that as well, or import again once it is closed.`;
}

function countsOf(plan: IssuePlanView, { imported, differs, unchanged }: ImportResultView): string {
  if (unchanged + differs.length === 0) return planCounts(plan);
  return `${imported.tasks} new tasks, ${differs.length} changed, ${unchanged} unchanged`;
}

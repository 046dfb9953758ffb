// A repository as a newcomer has it after an hour: a broken settings file at first, a plan of 300 rows, a gate that a file of the
// tree turns red, and epics whose tasks fail, conflict or have candidates.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../e2e/support/eventually.ts';
import { makeProject, type Project } from '../../../e2e/support/project.ts';
import type { Frame } from '../../host/browser.ts';
import { directives } from './demo-project.ts';
import { fieldFocused } from './keys.ts';

export const epics = {
  twice: 'Accounts',
  counts: 'Billing',
  red: 'Catalog',
  conflict: 'Delivery',
  candidates: 'Emails',
  review: 'Forms',
} as const;
export type EpicName = keyof typeof epics;

export const tasks = {
  twice: 'Sign in',
  done: 'Print the bill',
  fails: 'Break the gate',
  red: ['Show the shelves', 'Sort the shelves'],
  conflict: ['Name the first owner', 'Name the second owner'],
  candidates: 'Write the mail',
  review: 'Check the form',
} as const;

const shelfRows = 300;
const shelfTasks = 50;

/** It fails for a tree with one of two files; for the second one only until `mended` is called. */
const gate = `if [ -e red.txt ]; then echo "README.md:1: error: main is red"; exit 1; fi
if [ -e broken.txt ] && [ ! -e "$(git rev-parse --git-common-dir)/mended" ]; then echo "README.md:1: error: broken.txt must not exist"; exit 1; fi
echo green
`;

export interface FirstHour {
  readonly project: Project;
  /** Makes `.drover.toml` unreadable, as a colleague did. */
  breakSettings(): void;
  mendSettings(): void;
  /** From now on the gate accepts a tree with `broken.txt`. */
  mendGate(): void;
  /** A person's commit on main that turns the gate red, or green again. */
  commitRed(isRed: boolean): void;
  addPlan(): Promise<Readonly<Record<EpicName, string>>>;
}

const settings = `max_workers = 2
[agent.env]
DROVER_DEMO_STEP_MS = "300"
[gate]
command = "sh gate.sh"
`;

export function firstHour(): FirstHour {
  const env = { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' };
  const project = makeProject({ files: { 'gate.sh': gate }, settings, env });
  return {
    project,
    breakSettings: () => project.write('repo/.drover.toml', `# ours\nland = "epic"\n${settings}`),
    mendSettings: () => project.write('repo/.drover.toml', settings),
    mendGate: () => project.write('repo/.git/mended', ''),
    commitRed(isRed) {
      const file = join(project.root, 'red.txt');
      if (isRed) writeFileSync(file, 'red\n');
      else if (existsSync(file)) rmSync(file);
      project.git('add', '-A', '--', 'red.txt');
      project.git('commit', '-qm', isRed ? 'Break the build' : 'Mend the build');
    },
    addPlan: () => addPlan(project),
  };
}

async function addPlan(project: Project): Promise<Readonly<Record<EpicName, string>>> {
  const ids = { twice: '', counts: '', red: '', conflict: '', candidates: '', review: '' };
  for (const name of Object.keys(epics) as EpicName[]) {
    const { id } = await project.json<{ id: string }>(['epic', 'add', epics[name]]);
    ids[name] = id;
  }
  const add = async (epic: EpicName, title: string, work: string[], ...more: string[]) =>
    await project.add(title, '-e', ids[epic], '-d', directives(...work), ...more);
  await add('twice', tasks.twice, ['fail 2', 'write sign-in.txt x'], '--max-attempts', '3');
  await add('counts', tasks.done, ['write bill.txt x']);
  await add('counts', tasks.fails, ['write broken.txt x'], '--max-attempts', '1');
  for (const title of tasks.red) await add('red', title, [`write ${title.slice(0, 4)}.txt x`]);
  for (const [at, title] of tasks.conflict.entries())
    await add('conflict', title, [`write README.md owner-${at + 1}`], '--max-attempts', '1');
  await add(
    'candidates',
    tasks.candidates,
    ['write mail.txt mail of {{task}}'],
    '--best-of',
    '2',
    '--choose',
    'person',
  );
  await add('review', tasks.review, ['write form.txt x']);
  project.write('plan.jsonl', shelfLines());
  await project.expect(0, ['import', join(project.folder, 'plan.jsonl')]);
  return ids;
}

/** Epics of open tasks which no run takes. */
function shelfLines(): string {
  const lines: object[] = [];
  for (let at = 0; at < shelfRows; at += 1) {
    const epic = `shelf-${Math.floor(at / shelfTasks)}`;
    if (at % shelfTasks === 0) lines.push({ type: 'epic', id: epic, title: `Warehouse ${epic}` });
    lines.push({ type: 'task', id: `row-${at}`, title: `Fill row ${at}`, epic_id: epic });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The field of a new row has the focus, and a person sees the whole of it. */
export async function fieldInSight(tree: Frame): Promise<void> {
  await fieldFocused(tree);
  await eventually('the field is in sight', () => tree.evaluate(isFieldInSight));
}

function isFieldInSight(): boolean {
  const root = document.querySelector('drover-tree')?.shadowRoot;
  const field = root?.querySelector('input.text')?.getBoundingClientRect();
  const rows = root?.querySelector('.rows')?.getBoundingClientRect();
  if (field === undefined || rows === undefined) return false;
  return field.top >= rows.top && field.bottom <= rows.bottom && field.height > 0;
}

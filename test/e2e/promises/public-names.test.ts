// Scripts and people rely on these names: fields of --json, exit codes, settings and refs. Names
// may be added, but not removed. `UPDATE_GOLDEN=1` adds new ones to the list.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginPlan } from '../support/plan.ts';
import type { Project } from '../support/project.ts';
import { useProjects } from '../support/suite-projects.ts';

const list = join(import.meta.dirname, '..', '..', 'golden', 'public-names.txt');

const commands: Readonly<Record<string, readonly string[]>> = {
  status: ['status'],
  show: ['show', 'bad'],
  why: ['why', 'bad'],
  'why of an epic': ['why', 'E'],
  report: ['report', 'E'],
  'epic list': ['epic', 'list'],
  'epic show': ['epic', 'show', 'E'],
  snapshots: ['snapshots', 'bad'],
  diff: ['diff', 'good'],
  'worktree list': ['worktree', 'list'],
  templates: ['templates'],
  trust: ['trust'],
  events: ['events', '--type', 'task.completed'],
  search: ['search', 'wrote'],
  add: ['add', 'One more'],
};

/** Paths of all fields, except those below names that are ids. */
function fieldsOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, `${path}[]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]) => [
    `${path}.${key}`,
    ...fieldsOf(each, `${path}.${key}`),
  ]);
}

async function fieldsBy(here: Project, args: readonly string[]): Promise<readonly string[]> {
  const done = await here.drover([...args, '--json']);
  const values: unknown[] = [];
  try {
    values.push(JSON.parse(done.stdout));
  } catch {
    const lines = done.stdout.split('\n').filter((line) => line !== '');
    values.push(...lines.map((line): unknown => JSON.parse(line)));
  }
  return [...new Set(values.flatMap((value) => fieldsOf(value)))].toSorted();
}

suite('promises: public names', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('fields, exit codes, settings and refs do not change', async () => {
    const here = project({
      agent:
        'cat > /dev/null; echo "work of $id" > "$id.txt"; echo wrote it; [ "$id" != bad ] || exit 1',
    });
    await here.expect(0, ['init']);
    const refused = await here.drover(['show', 'none']);
    const misused = await here.drover(['--unknown']);
    await beginPlan(here, [
      { id: 'E', type: 'epic' },
      { id: 'e1', epic_id: 'E' },
      'good',
      { id: 'bad', max_attempts: 1 },
      { id: 'after', blocked_by: ['bad'] },
    ]);
    const left = await here.drover(['run', '--epic', 'E', '--land', 'review']);
    const failed = await here.drover(['run']);
    const seen: Record<string, readonly string[]> = {
      'exit codes': [refused, misused, failed, left].map(({ code }) => String(code)),
      refs: here.git('for-each-ref', '--format=%(refname)', 'refs/drover').split('\n'),
    };
    for (const [name, args] of Object.entries(commands)) seen[name] = await fieldsBy(here, args);
    const lines = Object.entries(seen).map(([name, names]) => `${name}: ${names.join(' ')}\n`);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(list, lines.join(''));
    const known = readFileSync(list, 'utf8').trimEnd().split('\n');
    const gone = known.flatMap((line) => {
      const [name = '', names = ''] = line.split(': ');
      return names.split(' ').filter((each) => seen[name]?.includes(each) !== true);
    });
    assert.deepEqual(gone, []);
  });
});

// A plan written as JSONL and imported with the real command, so that tasks have ids that a test
// can use.

import { join } from 'node:path';
import type { Project } from './project.ts';

export interface PlanRecord {
  readonly id: string;
  readonly type?: 'epic' | 'story' | 'task';
  readonly [key: string]: unknown;
}

/** Records without a type are stories; the id replaces a missing title. */
export async function importPlan(
  project: Project,
  records: readonly (PlanRecord | string)[],
): Promise<void> {
  const lines = records.map((record) => {
    const given = typeof record === 'string' ? { id: record } : record;
    return JSON.stringify({ type: 'story', title: `Task ${given.id}`, ...given });
  });
  project.write('plan.jsonl', `${lines.join('\n')}\n`);
  await project.expect(0, ['import', join(project.folder, 'plan.jsonl')]);
}

/** `init` and a plan. */
export async function beginPlan(
  project: Project,
  records: readonly (PlanRecord | string)[],
): Promise<void> {
  await project.expect(0, ['init']);
  await importPlan(project, records);
}

// What could be better about a task: hints to the person, never a reason to refuse it.

import { withoutCriteria } from '../core/import-record.ts';
import { textList } from './read.ts';
import type { TaskRow } from './tables.ts';

type Described = Pick<
  TaskRow,
  'title' | 'description' | 'acceptance_criteria' | 'test_mode' | 'parent_id'
>;

const vagueTitle =
  /^(?:do|fix|improve|update|change|refactor|clean ?up|todo|wip|misc|stuff|bug|test|task|it|this|the|things?|some|more|something|\s|[.!…])*$/iu;
const titleCharactersMin = 8;

export function taskWarnings(row: Described): string[] {
  const warnings: string[] = [];
  if (row.title.length < titleCharactersMin || vagueTitle.test(row.title)) {
    warnings.push('The title is vague: say what will be different afterwards.');
  }
  const criteria = textList(row.acceptance_criteria);
  if (withoutCriteria(row.description ?? '', criteria).trim() === '') {
    warnings.push('There is no description: the agent knows nothing but the title.');
  }
  // Sub-tasks are steps of their parent, whose criteria hold for all of them.
  if (criteria.length === 0 && row.parent_id === null) {
    warnings.push('There are no acceptance criteria: add some with --accept.');
  }
  if (row.test_mode === 'lenient') {
    warnings.push('The test mode lenient is read as strict: nothing red lands.');
  }
  return warnings;
}

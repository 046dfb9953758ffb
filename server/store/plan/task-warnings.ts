// Suggests improvements of a task. They are hints to the user and never a reason to refuse it.

import { withoutCriteria } from '../../core/exchange/import-record.ts';
import { canChooseModel } from '../../core/work/fallback.ts';

export interface DescribedTask {
  readonly title: string;
  readonly description: string;
  readonly acceptance_criteria: readonly string[];
  readonly test_mode: string;
  readonly parent_id: string | null;
  readonly plan?: boolean;
  readonly agent?: string | null;
  readonly model?: string | null;
}

const vagueTitle =
  /^(?:(?:do|fix|improve|update|change|refactor|clean|up|todo|wip|misc|stuff|bugs?|tests?|tasks?|it|this|that|the|things?|some|more|something)(?:[\s.!…-]+|$))*$/iu;
const titleCharactersMin = 8;
/** A longer title is specific enough even if it contains the words above. */
const vagueCharactersMax = 40;

export function taskWarnings(task: DescribedTask): string[] {
  const warnings: string[] = [];
  const { title } = task;
  if (
    title.length < titleCharactersMin ||
    (title.length <= vagueCharactersMax && vagueTitle.test(title))
  ) {
    warnings.push('The title is vague. State what will be different afterward.');
  }
  if (isBlank(task)) {
    warnings.push('The task has no description. The agent knows only the title.');
  }
  // Sub-tasks are steps of their parent, whose criteria apply to all of them.
  if (task.acceptance_criteria.length === 0 && task.parent_id === null) {
    warnings.push('The task has no acceptance criteria. Add some with --accept.');
  }
  if (task.test_mode === 'lenient') {
    warnings.push('The test mode lenient is read as strict: nothing red lands.');
  }
  if (task.plan === true && task.parent_id !== null) {
    warnings.push('A sub-task is planned with its parent: ask for a plan there.');
  }
  const { agent = null, model = null } = task;
  if (agent !== null && model !== null && !canChooseModel(agent)) {
    warnings.push(`The model is not used: set it in [agents.${agent}] args.`);
  }
  return warnings;
}

/** Whether the description contains only the criteria. */
function isBlank({ description, acceptance_criteria: criteria }: DescribedTask): boolean {
  if (!/^(?:\s*$|Acceptance Criteria:)/u.test(description)) return false;
  return withoutCriteria(description, criteria).trim() === '';
}

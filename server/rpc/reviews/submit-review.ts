// Stores the verdict of a reviewing agent. Its token allows only this request.

import { checkReview, type Finding } from '../../core/review/review.ts';
import { Refusal } from '../../core/failure.ts';
import type { AgentParams, AgentResult } from '../../protocol/agent-requests.ts';
import { addReview, taskOrRefuse, textList } from '../../store/port.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';
import type { AgentHandlerDeps } from '../handlers/agent-deps.ts';

export async function submitReview(
  { engine }: AgentHandlerDeps,
  scope: AgentScope,
  given: AgentParams<'agent.review'>,
): Promise<AgentResult<'agent.review'>> {
  const { store, mask } = engine;
  const { review: of, taskId, attempt, runId } = scope;
  if (of === undefined) {
    throw new Refusal('not_yours', 'Only an agent that reviews can give a verdict. Do your task.');
  }
  const isFirst = await store.transaction(async (tx) => {
    const task = await taskOrRefuse(tx, taskId);
    if (task.epoch !== scope.epoch) {
      throw new Refusal('attempt_over', `${taskId} has changed. Its review is no longer needed.`);
    }
    const checked = checkReview(given, textList(task.acceptance_criteria));
    if (typeof checked === 'string') throw new Refusal('bad_value', checked);
    const masked = (finding: Finding): Finding => ({ ...finding, text: mask(finding.text) });
    const { tree, agent, model } = of;
    return addReview(tx, store.sources, {
      verdict: checked.verdict,
      findings: checked.findings.map(masked),
      criteria: checked.criteria.map((each) => ({ ...each, evidence: mask(each.evidence) })),
      taskId,
      tree,
      attempt,
      agent,
      model,
      runId,
    });
  });
  return {
    message: isFirst
      ? 'Your verdict is stored. End your turn now.'
      : 'Your first verdict counts. End your turn now.',
  };
}

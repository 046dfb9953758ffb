// An agent's requests that change the plan: add a sub-task or a follow-up, or wait for another
// task. The rules for people apply, with additional limits. A refused request changes nothing.

import { Refusal } from '../../core/failure.ts';
import { subTaskIdInTitle } from '../../core/ids.ts';
import type { AgentParams, AgentResult } from '../../protocol/agent-requests.ts';
import {
  editTask,
  addTask,
  askToStop,
  readCandidateTask,
  taskAndSubTaskIds,
  sameTitle,
  type Tx,
  taskOrRefuse,
} from '../../store/port.ts';
import { countInAttempt, countInRun } from '../../store/feed/find-events.ts';
import { attemptAtWork, boundedText, notLonger, notMore } from './agent-attempt.ts';
import type { AgentHandlerDeps } from './agent-deps.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';

export const agentLimits = {
  addsPerAttempt: 20,
  /** Limits chains of follow-ups. */
  addsPerRun: 100,
  blocksPerAttempt: 10,
  titleCharacters: 200,
  descriptionCharacters: 20_000,
  criteria: { items: 20, characters: 500 },
  blockers: { items: 20, characters: 200 },
  reasonCharacters: 1_000,
} as const;

type AddParams = AgentParams<'agent.add'>;

export async function addForAgent(
  deps: AgentHandlerDeps,
  scope: AgentScope,
  given: AddParams,
): Promise<AgentResult<'agent.add'>> {
  const { engine } = deps;
  const { store } = engine;
  const task = checkedTask(deps, scope, given);
  const { defaultLabels, maxAttempts } = deps.settings();
  return store.transaction(async (tx) => {
    const { attempt } = await attemptAtWork(tx, scope);
    if (attempt.planning === 1) {
      throw new Refusal(
        'bad_state',
        'You only plan now: put the tasks into your plan; they can be added when it is built.',
      );
    }
    const present = await alreadyAdded(tx, scope, task);
    if (present !== null) {
      const message = `${present.id} already has this title. Nothing was added.`;
      return { ...present, left: await leftToAdd(tx, scope), message };
    }
    if (given.kind === 'follow_up' && (await readCandidateTask(tx, scope.taskId)) !== null) {
      throw new Refusal(
        'bad_state',
        `${scope.taskId} is one of several candidates and may not be chosen, so it cannot add follow-up tasks. Name them in your summary instead.`,
      );
    }
    const left = await refuseTooMany(tx, scope);
    const row = await addTask(tx, store.sources, {
      ...task,
      labels: defaultLabels,
      max_attempts: maxAttempts,
    });
    await store.append(tx, {
      type: 'agent.added',
      taskId: scope.taskId,
      runId: scope.runId,
      data: {
        attempt: scope.attempt,
        part: scope.part,
        task: row.id,
        kind: given.kind,
        title: row.title,
      },
    });
    const message =
      given.kind === 'sub_task'
        ? `${row.id} is added: another agent works on it in this worktree as soon as you have ended your turn. Do not do its work yourself.`
        : `${row.id} is added: it starts when ${scope.taskId} has landed.`;
    return { id: row.id, status: row.status, left: left - 1, message };
  });
}

type NewTask = Parameters<typeof addTask>[2];

function checkedTask(deps: AgentHandlerDeps, scope: AgentScope, given: AddParams): NewTask {
  const { mask } = deps.engine;
  const { blockers, criteria, titleCharacters, descriptionCharacters } = agentLimits;
  const title = mask(boundedText(given.title, 'The title', titleCharacters));
  const description = mask(
    notLonger(given.description ?? '', 'The description', descriptionCharacters),
  );
  const accept = notMore(given.accept ?? [], 'accept', criteria).map(mask);
  const blockedBy = notMore(given.blocked_by ?? [], 'blocked_by', blockers);
  const prefix = subTaskIdInTitle(title);
  if (prefix !== null) {
    throw new Refusal(
      'bad_title',
      `The title starts with the id of a sub-task of ${prefix.parent}. Start it with another word.`,
    );
  }
  const words = { title, description, accept };
  switch (given.kind) {
    case 'sub_task':
      if (blockedBy.length > 0) {
        throw new Refusal(
          'bad_value',
          'Sub-tasks run one after the other in the order in which they are added; leave blocked_by out.',
        );
      }
      return { ...words, parent: scope.taskId, byAgent: true };
    case 'follow_up':
      return { ...words, blocked_by: [scope.taskId, ...blockedBy] };
    default:
      throw new Refusal('bad_value', 'kind must be sub_task or follow_up.');
  }
}

/**
 * An agent that was restarted, or did not get the response, repeats the request. It gets the same
 * task.
 */
async function alreadyAdded(
  tx: Tx,
  scope: AgentScope,
  task: NewTask,
): Promise<{ readonly id: string; readonly status: string } | null> {
  const { taskId } = scope;
  const place = task.parent === undefined ? { blocker: taskId } : { parent: taskId };
  return sameTitle(tx, task.title.trim(), place);
}

async function leftToAdd(tx: Tx, scope: AgentScope): Promise<number> {
  const count = await countInAttempt(tx, 'agent.added', scope);
  return Math.max(0, agentLimits.addsPerAttempt - count);
}

/** How many more tasks may be added, including this one. */
async function refuseTooMany(tx: Tx, scope: AgentScope): Promise<number> {
  const { addsPerAttempt, addsPerRun } = agentLimits;
  const inAttempt = await countInAttempt(tx, 'agent.added', scope);
  if (inAttempt >= addsPerAttempt) {
    throw new Refusal(
      'too_many',
      `This attempt of ${scope.taskId} has added ${inAttempt} tasks, and no more are taken; put the rest into your summary.`,
    );
  }
  const inRun = await countInRun(tx, 'agent.added', scope.runId);
  if (inRun >= addsPerRun) {
    throw new Refusal(
      'too_many',
      `Agents have added ${inRun} tasks to this run, and no more are taken; ask the person, or put the rest into your summary.`,
    );
  }
  return addsPerAttempt - inAttempt;
}

export async function blockForAgent(
  deps: AgentHandlerDeps,
  scope: AgentScope,
  given: AgentParams<'agent.block'>,
): Promise<AgentResult<'agent.block'>> {
  const { store, mask } = deps.engine;
  const by = given.by.trim();
  const reason = mask(notLonger(given.reason ?? '', 'The reason', agentLimits.reasonCharacters));
  await store.transaction(async (tx) => {
    const { task } = await attemptAtWork(tx, scope);
    const count = await countInAttempt(tx, 'agent.blocked', scope);
    if (count >= agentLimits.blocksPerAttempt) {
      throw new Refusal('too_many', `${scope.taskId} has named ${count} blockers; end your turn.`);
    }
    await refusePointless(tx, scope, by);
    await editTask(tx, store.sources, scope.taskId, { add_blockers: [by] });
    if (task.stop_requested === null) {
      const words = `waits for ${by}${reason === '' ? '' : `: ${reason}`}`;
      // This is not a forced stop: the agent sends its final message, then the attempt is released.
      await askToStop(tx, scope.taskId, 'stop', words);
    }
    await store.append(tx, {
      type: 'agent.blocked',
      taskId: scope.taskId,
      runId: scope.runId,
      data: { attempt: scope.attempt, part: scope.part, by, reason },
    });
  });
  return {
    message: `${scope.taskId} now waits for ${by}. End your turn: your work is kept, and you continue when ${by} is done.`,
  };
}

async function refusePointless(tx: Tx, scope: AgentScope, by: string): Promise<void> {
  const row = await taskOrRefuse(tx, by);
  const own = scope.taskId;
  if (row.id !== own && (await taskAndSubTaskIds(tx, own)).includes(row.id)) {
    throw new Refusal(
      'bad_value',
      `${by} is a sub-task of ${own} itself and runs in the same attempt, so it cannot be waited for.`,
    );
  }
  if (row.status === 'completed') {
    throw new Refusal('bad_value', `${by} is already completed, so waiting is not needed.`);
  }
  if (row.status === 'cancelled') {
    throw new Refusal('bad_value', `${by} is cancelled and will not be done. Ask the person.`);
  }
}

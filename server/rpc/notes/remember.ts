// Stores an agent's note for the agents of other tasks.

import { attemptWorkRef } from '../../core/work/ref-names.ts';
import { findCited } from '../../core/notes/notes.ts';
import { Refusal } from '../../core/failure.ts';
import type { AgentParams, AgentResult } from '../../protocol/agent-requests.ts';
import {
  addNote,
  type AttemptRow,
  readCandidateTask,
  countNotes,
  type NewNote,
} from '../../store/port.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';
import { attemptAtWork } from '../handlers/agent-attempt.ts';
import type { AgentHandlerDeps } from '../handlers/agent-deps.ts';
import { citedPlace, lineAt, noSuchLine, noteText, textAt } from './cited-line.ts';

const notesPerAttemptMax = 20;

export async function rememberForAgent(
  deps: AgentHandlerDeps,
  scope: AgentScope,
  given: AgentParams<'agent.remember'>,
): Promise<AgentResult<'agent.remember'>> {
  const { store, mask } = deps.engine;
  if (deps.engine.settings().noteCount === 0) {
    throw new Refusal('bad_state', 'Notes are off in this project. Put this into your summary.');
  }
  const text = mask(noteText(given.text));
  const { task, attempt } = await attemptAtWork(store.db, scope);
  const citation = given.at === undefined ? null : await cite(deps, scope, attempt, given.at);
  const row = await store.transaction(async (tx) => {
    await attemptAtWork(tx, scope);
    await refuseCandidate(tx, scope);
    const count = await countNotes(tx, scope);
    if (count >= notesPerAttemptMax) {
      throw new Refusal(
        'too_many',
        `This attempt of ${scope.taskId} has left ${count} notes, and no more are taken; put the rest into your summary.`,
      );
    }
    const { taskId, attempt: number } = scope;
    const note = { text, epic_id: task.epic_id, task_id: taskId, attempt: number };
    return addNote(tx, store.sources, { ...note, isKept: false, citation });
  });
  return { note: row.id, message: whoGetsIt(task.epic_id) };
}

function whoGetsIt(epicId: string | null): string {
  return epicId === null
    ? 'Noted. Your task has no epic, so other tasks get the note only if a person keeps it.'
    : `Noted. Agents of ${epicId} get it from their next prompt on.`;
}

async function refuseCandidate(
  tx: Parameters<typeof readCandidateTask>[0],
  { taskId }: AgentScope,
): Promise<void> {
  if ((await readCandidateTask(tx, taskId)) === null) return;
  throw new Refusal(
    'bad_state',
    `${taskId} is one of several candidates, which must not influence each other, so it cannot leave notes. Use your summary instead.`,
  );
}

/** Reads the line as the agent sees it: from the last snapshot of its work, or from its base. */
async function cite(
  { engine }: AgentHandlerDeps,
  scope: AgentScope,
  attempt: AttemptRow,
  at: string,
): Promise<NewNote['citation']> {
  const { git, mask } = engine;
  const place = citedPlace(at, attempt.worktree_path);
  const work = await git.readRef(attemptWorkRef(scope.taskId, scope.attempt));
  const base = attempt.base_sha;
  for (const commit of [work, base]) {
    const text = commit === null ? null : await lineAt(git, commit, place);
    if (text === null) continue;
    const inBase = base === null ? null : await textAt(git, base, place.path);
    const isInBase = inBase !== null && findCited({ ...place, text }, inBase) !== null;
    return { ...place, text: mask(text), commit: isInBase ? base : null };
  }
  throw noSuchLine(place, 'in the last stored state of your work');
}

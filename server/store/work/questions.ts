// Questions of agents to a person, and a person's hints to an agent.

import { newId } from '../../core/ids.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { inParts } from '../rows/one-moment.ts';
import type { HintRow, HintSource, QuestionRow, Reads, Tx } from '../schema/tables.ts';

export interface NewQuestion {
  readonly taskId: string;
  readonly attempt: number;
  readonly requestId: string;
  readonly kind: string;
  readonly text: string;
  readonly choices: readonly string[];
}

/** Stores a question. The same request of the same attempt is the same question. */
export async function askQuestion(
  tx: Tx,
  sources: StoreSources,
  question: NewQuestion,
): Promise<QuestionRow> {
  const known = await tx
    .selectFrom('questions')
    .selectAll()
    .where('task_id', '=', question.taskId)
    .where('attempt', '=', question.attempt)
    .where('request_id', '=', question.requestId)
    .where('state', '!=', 'withdrawn')
    .executeTakeFirst();
  if (known !== undefined) return known;
  const row: QuestionRow = {
    id: newId('question', sources.random(8)),
    task_id: question.taskId,
    attempt: question.attempt,
    request_id: question.requestId,
    kind: question.kind,
    text: question.text,
    choices: JSON.stringify(question.choices),
    state: 'open',
    answer: null,
    asked_at_ms: sources.clock.now(),
    answered_at_ms: null,
  };
  await tx.insertInto('questions').values(row).execute();
  await appendEvent(tx, sources, {
    type: 'question.asked',
    taskId: row.task_id,
    data: { question: row.id, kind: row.kind, text: row.text, choices: question.choices },
  });
  return row;
}

/** Ends an open question. Returns false if it was no longer open. */
export async function endQuestion(
  tx: Tx,
  sources: StoreSources,
  id: string,
  end: { readonly state: 'answered' | 'withdrawn'; readonly answer: string | null },
): Promise<boolean> {
  const row = await tx
    .updateTable('questions')
    .set({ state: end.state, answer: end.answer, answered_at_ms: sources.clock.now() })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .returning('task_id')
    .executeTakeFirst();
  if (row === undefined) return false;
  await appendEvent(tx, sources, {
    type: end.state === 'answered' ? 'question.answered' : 'question.withdrawn',
    taskId: row.task_id,
    data: { question: id, ...(end.answer === null ? {} : { answer: end.answer, by: 'person' }) },
  });
  return true;
}

/** Unanswered questions about a task. */
export async function openQuestions(db: Reads, taskId: string): Promise<readonly QuestionRow[]> {
  return db
    .selectFrom('questions')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('state', '=', 'open')
    .execute();
}

/** An attempt's questions about one of its parts, by the prefix of their request ids. */
export async function askedInAttempt(
  db: Reads,
  of: { readonly part: string; readonly attempt: number },
  prefix: string,
): Promise<readonly QuestionRow[]> {
  return db
    .selectFrom('questions')
    .selectAll()
    .where('task_id', '=', of.part)
    .where('attempt', '=', of.attempt)
    .where('request_id', 'like', `${prefix}%`)
    .execute();
}

/** Withdraws an agent's questions about a task or about one of its parts. */
export async function withdrawQuestions(
  tx: Tx,
  sources: StoreSources,
  taskId: string,
): Promise<void> {
  const rows = await tx
    .withRecursive('family(id)', (cte) =>
      cte
        .selectFrom('tasks')
        .select('id')
        .where('id', '=', taskId)
        .unionAll(
          cte
            .selectFrom('tasks')
            .innerJoin('family', 'family.id', 'tasks.parent_id')
            .select('tasks.id'),
        ),
    )
    .selectFrom('questions')
    .select('id')
    .where('task_id', 'in', (query) => query.selectFrom('family').select('family.id'))
    .where('state', '=', 'open')
    .where('kind', '!=', 'review')
    .execute();
  for (const row of rows)
    await endQuestion(tx, sources, row.id, { state: 'withdrawn', answer: null });
}

export async function addHint(
  tx: Tx,
  sources: StoreSources,
  taskId: string,
  message: string,
  source: HintSource = 'person',
): Promise<HintRow> {
  const row: HintRow = {
    id: sources.uuid(),
    task_id: taskId,
    message,
    created_at: Math.floor(sources.clock.now() / 1000),
    delivered: 0,
    source,
  };
  await tx.insertInto('guidance_queue').values(row).execute();
  await appendEvent(tx, sources, {
    type: 'hint.added',
    taskId,
    data: { hint: row.id, text: message, ...(source === 'person' ? {} : { source }) },
  });
  return row;
}

/**
 * All hints to these tasks, delivered or not, oldest first. Of the hints about other running work,
 * only new ones, because a later attempt runs beside different work.
 */
export async function allHints(tx: Reads, taskIds: readonly string[]): Promise<HintRow[]> {
  return hintsTo(tx, taskIds)
    .where((eb) => eb.or([eb('source', '=', 'person'), eb('delivered', '=', 0)]))
    .execute();
}

/** Hints that no agent has received yet. */
export async function openHints(tx: Reads, taskIds: readonly string[]): Promise<HintRow[]> {
  return hintsTo(tx, taskIds).where('delivered', '=', 0).execute();
}

function hintsTo(tx: Reads, taskIds: readonly string[]) {
  return tx
    .selectFrom('guidance_queue')
    .selectAll()
    .where('task_id', 'in', [...taskIds])
    .orderBy('created_at');
}

export async function markHintDelivered(tx: Tx, sources: StoreSources, id: string): Promise<void> {
  const row = await tx
    .updateTable('guidance_queue')
    .set({ delivered: 1 })
    .where('id', '=', id)
    .where('delivered', '=', 0)
    .returning('task_id')
    .executeTakeFirst();
  if (row === undefined) return;
  await appendEvent(tx, sources, {
    type: 'hint.delivered',
    taskId: row.task_id,
    data: { hint: id },
  });
}

export async function questionById(db: Reads, id: string): Promise<QuestionRow | null> {
  const row = await db.selectFrom('questions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/**
 * Returns the questions that were answered or withdrawn. The answer of a withdrawn question is
 * null.
 */
export async function endedQuestions(
  db: Reads,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly answer: string | null }[]> {
  const found: { readonly id: string; readonly answer: string | null }[] = [];
  for (const part of inParts(ids)) {
    const rows = await db
      .selectFrom('questions')
      .select(['id', 'state', 'answer'])
      .where('id', 'in', [...part])
      .where('state', '!=', 'open')
      .execute();
    for (const { id, state, answer } of rows)
      found.push({ id, answer: state === 'answered' ? answer : null });
  }
  return found;
}

/** Returns the tasks with hints that no agent has received yet. */
export async function tasksWithOpenHints(
  db: Reads,
  taskIds: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const part of inParts(taskIds)) {
    const rows = await db
      .selectFrom('guidance_queue')
      .select('task_id')
      .distinct()
      .where('task_id', 'in', [...part])
      .where('delivered', '=', 0)
      .execute();
    found.push(...rows.map((row) => row.task_id));
  }
  return found;
}

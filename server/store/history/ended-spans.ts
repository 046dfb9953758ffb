// Reads the spans that ended within a page of the feed, task by task, so that memory is bounded by
// the page, however long the feed and the run are.

import { buildSpans, runsOfTask } from '../../core/history/spans.ts';
import { StoryTeller } from '../../core/history/stories.ts';
import type { EventView } from '../../protocol/api.ts';
import { eventView } from '../feed/feed.ts';
import { hashHex } from '../rows/hex-of.ts';
import { inParts } from '../rows/one-moment.ts';
import { readUsage } from './read-history.ts';
import type { Reads } from '../schema/tables.ts';
import type { TraceSpan } from '../../core/history/trace-span.ts';

/** Number of tasks whose events are in memory at once, a few dozen each. */
const tasksAtOnce = 100;
const runTypes = ['run.started', 'run.resumed', 'run.stopped', 'run.finished'] as const;
const gateTypes: ReadonlySet<string> = new Set(['gate.passed', 'gate.failed']);

/**
 * Yields the spans that ended with the events of the page (consecutive and in order), in parts that
 * fit into one request.
 */
export async function* endedSpans(
  db: Reads,
  page: readonly EventView[],
): AsyncGenerator<readonly TraceSpan[]> {
  const [first] = page;
  const last = page.at(-1);
  if (first === undefined || last === undefined) return;
  const gates = page.filter((event) => gateTypes.has(event.type));
  const gated = new Set(gates.flatMap((event) => textsOf(event.data['task_ids'])));
  const others = await tasksOf(db, page, last.seq);
  for (const id of gated) others.delete(id);
  const runs = await readEvents(db, last.seq, { types: runTypes });
  const part = { db, first: first.seq, upTo: last.seq, runs };
  // A gate links to its tasks, so they must be in the same part.
  yield await endedIn(part, [...gated], gates);
  for (const ids of inParts([...others], tasksAtOnce)) {
    const spans = await endedIn(part, ids, []);
    // The runs themselves are in the first part.
    yield spans.filter(({ parentId }) => parentId !== null);
  }
}

/** All tasks that the page names, and all tasks left unfinished by a run that ended in it. */
async function tasksOf(db: Reads, page: readonly EventView[], upTo: number): Promise<Set<string>> {
  const found = new Set(page.flatMap(({ task_id: id }) => (id === null ? [] : [id])));
  const ended = page.flatMap((event) =>
    event.type === 'run.finished' && event.run_id !== null ? [event.run_id] : [],
  );
  if (ended.length === 0) return found;
  const rows = await db
    .selectFrom('events as e')
    .innerJoin('tasks as t', 't.id', 'e.task_id')
    .select('e.task_id')
    .distinct()
    .where('e.type', '=', 'task.claimed')
    .where('e.run_id', 'in', ended)
    .where('e.seq', '<=', upTo)
    .where((eb) =>
      eb.or([
        eb('t.status', '!=', 'completed'),
        // The task was still open when the run ended.
        eb.exists(
          eb
            .selectFrom('events as later')
            .select('later.seq')
            .whereRef('later.task_id', '=', 'e.task_id')
            .where('later.type', '=', 'task.completed')
            .where('later.seq', '>', upTo),
        ),
      ]),
    )
    .execute();
  for (const { task_id: id } of rows) if (id !== null) found.add(id);
  return found;
}

interface EventPage {
  readonly db: Reads;
  /** Number of the page's first event. */
  readonly first: number;
  readonly upTo: number;
  readonly runs: readonly EventView[];
}

async function endedIn(
  { db, first, upTo, runs }: EventPage,
  ids: readonly string[],
  gates: readonly EventView[],
): Promise<readonly TraceSpan[]> {
  const own = ids.length === 0 ? [] : await readEvents(db, upTo, { taskIds: ids });
  const events = [...runs, ...gates, ...own].toSorted((a, b) => a.seq - b.seq);
  const usage = await readUsage(db, ids);
  const stories = new StoryTeller();
  const spans = (): readonly TraceSpan[] => {
    const active = [...stories.tasks.values()].flatMap((task) => [...runsOfTask(task)]);
    const ended = runs.filter(({ seq }) => seq >= first).map(({ run_id: id }) => id ?? '');
    const runIds = [...new Set([...active, ...ended])];
    return buildSpans(stories, { taskIds: null, runIds }, usage, hashHex);
  };
  const at = events.findIndex((event) => event.seq >= first);
  for (const event of events.slice(0, Math.max(0, at))) stories.take(event);
  const before = new Set(spans().map(keyOf));
  for (const event of events.slice(Math.max(0, at))) stories.take(event);
  return spans().filter((span) => !before.has(keyOf(span)));
}

/** A resumed run ends again under the same span id. */
function keyOf({ traceId, spanId, endMs }: TraceSpan): string {
  return `${traceId}/${spanId}/${endMs}`;
}

async function readEvents(
  db: Reads,
  upTo: number,
  of: { readonly types?: readonly string[]; readonly taskIds?: readonly string[] },
): Promise<readonly EventView[]> {
  const { types, taskIds } = of;
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .$if(types !== undefined, (query) => query.where('type', 'in', types ?? []))
    .$if(taskIds !== undefined, (query) => query.where('task_id', 'in', taskIds ?? []))
    .where('seq', '<=', upTo)
    .execute();
  return rows.map(eventView);
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

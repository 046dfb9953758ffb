// Reads the rules for running a task from a session file, including fields that older tools write
// elsewhere.

import { taskRules, taskRulesFrom, type TaskRules } from './task-rules.ts';

/** Formats the rules for a session file: the fields of older tools, and Drover's own. */
export function sessionRules(record: TaskRules): {
  readonly older: Readonly<Record<string, unknown>>;
  readonly ours: Readonly<Record<string, unknown>>;
} {
  const said = taskRules.flatMap(([name, { column, session }]) => {
    const value = record[name] ?? null;
    if (value === null && session.isAlways !== true) return [];
    const written = value === null ? null : (session.written?.(value) ?? value);
    return [{ place: session.older, entry: [column, written] as const }];
  });
  const older = said.filter(({ place }) => place !== undefined);
  const inOrder = older.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0));
  const ours = said.filter(({ place }) => place === undefined);
  return {
    older: Object.fromEntries(inOrder.map(({ entry }) => entry)),
    ours: Object.fromEntries(ours.map(({ entry }) => entry)),
  };
}

/** Reads the fields of a task in a session file. `ours` is untrusted and may contain anything. */
export function readSessionRules(
  task: Readonly<Record<string, unknown>>,
  ours: Readonly<Record<string, unknown>>,
): TaskRules {
  return taskRulesFrom(
    taskRules.map(([name, { column, session }]) => {
      const value = session.older === undefined ? ours[column] : task[column];
      return [name, session.read(value)] as const;
    }),
  );
}

// How good the forecasts of conflicts were: against the attempts that ended in a conflict.

export interface ForecastFigures {
  /** Pairs of tasks with a foreseen conflict, and those in which one task met a conflict. */
  readonly foreseen: number;
  readonly foreseen_and_came: number;
  /** Tasks that met a conflict when they landed, and those of them with a foreseen one. */
  readonly came: number;
  readonly came_and_foreseen: number;
}

export interface ForeseenPair {
  readonly taskId: string;
  /** '' for work that had landed. */
  readonly otherId: string;
}

export function forecastFigures(
  known: readonly ForeseenPair[],
  conflicted: ReadonlySet<string>,
): ForecastFigures {
  const paired = new Set(
    known.flatMap(({ taskId, otherId }) => (otherId === '' ? [] : [taskId, otherId])),
  );
  // When one of a pair lands, the other one's conflict with the line is the same conflict.
  const pairs = known.filter(({ taskId, otherId }) => otherId !== '' || !paired.has(taskId));
  const foreseen = new Set(pairs.flatMap(({ taskId, otherId }) => [taskId, otherId]));
  return {
    foreseen: pairs.length,
    foreseen_and_came: pairs.filter(
      ({ taskId, otherId }) => conflicted.has(taskId) || conflicted.has(otherId),
    ).length,
    came: conflicted.size,
    came_and_foreseen: [...conflicted].filter((id) => foreseen.has(id)).length,
  };
}

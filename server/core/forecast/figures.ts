// How accurate the forecasts were, measured against attempts that ended in a conflict.

export interface ForecastFigures {
  /** Pairs of tasks with a forecast conflict, and how many of them did conflict. */
  readonly foreseen: number;
  readonly foreseen_and_came: number;
  /** Tasks that conflicted when they landed, and how many of these were forecast. */
  readonly came: number;
  readonly came_and_foreseen: number;
}

export interface ForeseenPair {
  readonly taskId: string;
  /** '' for landed work. */
  readonly otherId: string;
}

export function forecastFigures(
  known: readonly ForeseenPair[],
  conflicted: ReadonlySet<string>,
): ForecastFigures {
  const paired = new Set(
    known.flatMap(({ taskId, otherId }) => (otherId === '' ? [] : [taskId, otherId])),
  );
  // After one task of a pair lands, the other one's conflict with the line is the same conflict.
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

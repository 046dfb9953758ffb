// Finds the place of a pull request in its stack.

import type { PushedLevel, StackPlace } from '../core/forge/stack.ts';
import type { PullRow } from '../store/forge/pull-requests.ts';
import { runById, stackLevels } from '../store/port.ts';
import { resolveRunSettings } from '../workflows/kit/run-settings.ts';
import type { SendDeps } from './sent.ts';

type Engine = SendDeps['engine'];

export interface LevelPlace extends StackPlace {
  readonly levels: readonly PushedLevel[];
  /** The tasks whose work it contains. */
  readonly tasks: readonly string[];
  /** The open pull request on top of it. */
  readonly above: PullRow | null;
  /** The branch that the whole stack is merged into. */
  readonly baseName: string;
}

/** Returns null if the pull request is not in a stack. */
export async function placeInStack(engine: Engine, pull: PullRow): Promise<LevelPlace | null> {
  const { db } = engine.store;
  const { levels, pulls } = await stackLevels(db, pull.epic_id);
  const own = levels.find(({ branch }) => branch === pull.branch);
  const run = await runById(db, pull.run_id);
  if (own === undefined || run === null) return null;
  const counted = levels.filter((level) => level === own || level.state !== 'closed');
  const open = counted.filter((level) => level === own || level.state === 'open');
  const index = open.indexOf(own);
  const pullOf = (level: PushedLevel | undefined): PullRow | null =>
    level === undefined ? null : (pulls.get(level.branch) ?? null);
  return {
    rank: counted.indexOf(own) + 1,
    count: counted.length,
    below: pullOf(open[index - 1])?.number ?? null,
    above: pullOf(open[index + 1]),
    levels,
    tasks: own.tasks,
    baseName: resolveRunSettings(engine, run).forge.base ?? run.target_branch,
  };
}

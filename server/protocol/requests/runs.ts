// Requests about runs: starting, joining, ending and reporting.

import * as z from 'zod/mini';
import type { OtlpTrace } from '../../core/history/otlp.ts';
import type { Report } from '../../core/history/report.ts';
import type { RunList } from '../../core/history/run-list.ts';
import type { TranscriptSearch } from '../../core/history/transcript-search.ts';
import type { LandMode } from '../../core/plan/task.ts';
import type { PreflightView } from '../panel-views.ts';
import type { RunStarted, TargetFollowedView } from '../run-views.ts';
import {
  flag,
  id,
  integer,
  number,
  optional,
  type ParamsOf,
  text,
  texts,
  textsByName,
} from './fields.ts';

const runsMax = 5_000;
const hitsMax = 500;

/** Other values are refused by the settings, with the same message for all sources. */
const landMode = z.custom<LandMode>((value) => typeof value === 'string', { error: 'a string' });

/** A user's options for one run. They override the settings, which validate them. */
const wanted = {
  workers: optional(number),
  epic: optional(text),
  target: optional(text),
  gate: optional(text),
  land: optional(landMode),
  /** Kind of agent for tasks that name none, with the model to request. */
  agent: optional(text),
  model: optional(text),
  /** Whether tasks without their own value need a plan first. */
  plan: optional(flag),
  /** US dollars: for a run of one epic, the epic's budget, otherwise each task's. */
  budget_usd: optional(number),
};

/** Only these tasks and their blockers, instead of those of an epic. */
const tasks = optional(texts);

/** Environment of the caller that agents may need (filtered by the backend's allow-list). */
const env = optional(textsByName);

export const runShapes = {
  'run.start': {
    ...wanted,
    tasks,
    /**
     * Real path of the folder in which the command was called. In the user's linked worktree, the
     * branch checked out there is the default target.
     */
    called_in: optional(text),
    /** Agents that take over if one cannot do a task, as `codex,claude:opus`. */
    fallback: optional(text),
    env,
  },
  'run.resume': { env },
  /**
   * Stops the agents, releases the tasks (without using attempts) and ends the run, which `resume`
   * continues.
   */
  'run.stop': { run: optional(text) },
  preflight: { ...wanted, tasks, env },
  /** Runs the gate on the current target branch. Responds when it has ended. */
  'gate.test': { ...wanted, env },
  /**
   * Updates the target branch and its checkout to the landed work, and fixes the problems that
   * `status` reports for them. Without a branch, uses the target of the latest run. `leave_out`:
   * landed work that was removed from the branch stays removed.
   */
  'target.follow': { branch: optional(text), leave_out: optional(flag) },
  /**
   * The project's runs, newest first. `search`: words that a run's tasks, errors or epic must
   * contain.
   */
  'runs.list': { search: optional(text), limit: optional(integer(1, runsMax)) },
  /**
   * Lines of transcripts that contain all words, one per log, starting with the latest attempts. A
   * response takes at most about a second. `after`: the `next` of a response, to continue behind
   * it.
   */
  'transcripts.search': {
    words: text,
    after: optional(text),
    limit: optional(integer(1, hitsMax)),
  },
  /**
   * How a run or an epic spent its time and money, from the feed; without an id, the latest run.
   */
  report: { id: optional(id) },
  /** The spans of a run, an epic or a task as OTLP JSON. */
  'trace.export': { id },
  /**
   * In the Prometheus format. In a fleet, one machine responds with the totals; `totals`: this one
   * does too.
   */
  metrics: { totals: optional(flag) },
};

export type RunOptions = Readonly<ParamsOf<(typeof runShapes)['run.start']>>;

export interface RunAnswers {
  'run.start': RunStarted;
  'run.resume': RunStarted | { run: null; message: string };
  'run.stop': { stopped: readonly string[] };
  preflight: PreflightView;
  'gate.test': { branch: string; outcome: 'green' | 'red' | 'unknown'; message: string | null };
  'target.follow': TargetFollowedView;
  'runs.list': RunList;
  'transcripts.search': TranscriptSearch;
  report: Report;
  'trace.export': OtlpTrace;
  metrics: { text: string };
}

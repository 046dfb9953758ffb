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

/** The settings refuse any other value, with the same message for all of their sources. */
const landMode = z.custom<LandMode>((value) => typeof value === 'string', { error: 'a string' });

/** A person's options for one run; they override the settings, which validate them. */
const wanted = {
  workers: optional(number),
  epic: optional(text),
  target: optional(text),
  gate: optional(text),
  land: optional(landMode),
  /** Kind of the agent, for tasks that name none, and the model to ask it for. */
  agent: optional(text),
  model: optional(text),
  /** A plan first, for tasks without their own value. */
  plan: optional(flag),
  /** US dollars: of a run of one epic for the epic, else for each task. */
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
     * Real path of the folder that the command was called in. In a linked worktree of the user's,
     * the branch checked out there is the default target.
     */
    called_in: optional(text),
    /** Who takes over when an agent cannot do a task, as `codex,claude:opus`. */
    fallback: optional(text),
    env,
  },
  'run.resume': { env },
  /**
   * Ends the agents, gives the tasks back (no attempt is used) and ends the run, which `resume`
   * continues.
   */
  'run.stop': { run: optional(text) },
  preflight: { ...wanted, tasks, env },
  /** Runs the gate on the target branch as it is, and answers when it has ended. */
  'gate.test': { ...wanted, env },
  /**
   * Updates the target branch and its checkout to the landed work, and fixes the problems that
   * `status` reports of them. Without a branch, the target of the newest run. `leave_out`: landed
   * work that was taken off the branch stays off it.
   */
  'target.follow': { branch: optional(text), leave_out: optional(flag) },
  /**
   * The runs of the project, newest first; `search`: words that a run's tasks, errors or epic must
   * contain.
   */
  'runs.list': { search: optional(text), limit: optional(integer(1, runsMax)) },
  /**
   * Lines of transcripts that contain all words, one of each log, of the newest attempts first. An
   * answer takes about a second at most: `after`, the `next` of an answer, continues behind it.
   */
  'transcripts.search': {
    words: text,
    after: optional(text),
    limit: optional(integer(1, hitsMax)),
  },
  /**
   * How a run or an epic spent its time and money, from the feed; without an id, the newest run.
   */
  report: { id: optional(id) },
  /** The spans of a run, an epic or a task, in OTLP's JSON. */
  'trace.export': { id },
  /**
   * In Prometheus's format. In a fleet, one machine answers with the totals; `totals`: this one
   * does, too.
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

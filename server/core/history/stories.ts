// Turns the feed into stories of tasks, gates and runs, from which reports, traces and metrics are
// computed.

import { type FeedEvent, numberIn, textIn, textsIn } from './feed-event.ts';
import { newStory, type TaskStory, tell } from './task-story.ts';

export interface GateStory {
  readonly seq: number;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly isGreen: boolean;
  readonly isFlaky: boolean;
  readonly command: string;
  readonly exitCode: number | null;
  readonly commit: string | null;
  /** Tasks whose landing this gate decided. */
  readonly taskIds: string[];
  readonly epicIds: string[];
}

/** An early gate whose verdict was not needed. No other event reports a canceled early gate. */
export interface UnusedGate {
  readonly endMs: number;
  readonly ms: number;
  readonly taskIds: readonly string[];
}

export interface Span {
  readonly startMs: number;
  /** Null while it runs. */
  endMs: number | null;
}

export interface RunStory {
  readonly id: string;
  readonly epicId: string | null;
  readonly target: string | null;
  readonly workers: number | null;
  /** How its work lands: `task`, `epic` or `review`. */
  readonly land: string | null;
  /** Number of single tasks that it was started for; null if it runs a whole epic or project. */
  readonly tasks: number | null;
  /** Periods in which it was active: from a start or resume to an end or stop. */
  readonly windows: Span[];
  /** `finished` or `stopped`, as the feed last reported; `active` before that. */
  state: string;
  /** It has ended and no part of it is running. Resuming resets this. */
  isOver: boolean;
}

/** A stage of a gate that a landing did not need. */
export interface SkippedStage {
  readonly endMs: number;
  readonly stage: string;
  readonly paths: readonly string[];
  readonly taskIds: readonly string[];
}

export interface EpicLanding {
  readonly epicId: string;
  readonly sha: string | null;
  readonly branch: string | null;
  readonly atMs: number;
}

export interface Stories {
  readonly tasks: ReadonlyMap<string, TaskStory>;
  readonly gates: readonly GateStory[];
  readonly unusedGates: readonly UnusedGate[];
  readonly skippedStages: readonly SkippedStage[];
  readonly runs: ReadonlyMap<string, RunStory>;
  readonly epicLandings: readonly EpicLanding[];
  /** The number of the last processed event. */
  readonly seq: number;
  readonly lastMs: number;
}

export class StoryTeller implements Stories {
  readonly tasks = new Map<string, TaskStory>();
  readonly gates: GateStory[] = [];
  readonly unusedGates: UnusedGate[] = [];
  readonly skippedStages: SkippedStage[] = [];
  readonly runs = new Map<string, RunStory>();
  readonly epicLandings: EpicLanding[] = [];
  seq = 0;
  lastMs = 0;
  /** The last gate, if its event did not name the tasks that it tested. */
  #unnamed: GateStory | null = null;

  /** Events must be passed in the order of their numbers. */
  take(event: FeedEvent): void {
    this.seq = event.seq;
    this.lastMs = Math.max(this.lastMs, event.at_ms);
    if (event.type.startsWith('run.')) return this.#takeRun(event);
    if (event.type.startsWith('gate.')) return this.#takeGate(event);
    if (event.type === 'epic.landed') return this.#takeEpicLanding(event);
    if (event.task_id === null) return;
    let story = this.tasks.get(event.task_id);
    if (story === undefined) {
      story = newStory(event, event.task_id);
      this.tasks.set(event.task_id, story);
    }
    const wasLanding = story.periods.at(-1)?.kind === 'landing';
    tell(story, event);
    if (wasLanding) this.#namesTask(story, event);
  }

  #takeRun(event: FeedEvent): void {
    const id = event.run_id ?? textIn(event, 'run');
    if (id === null) return;
    const known = this.runs.get(id);
    const run: RunStory = known ?? {
      id,
      epicId: event.epic_id,
      target: textIn(event, 'target'),
      workers: numberIn(event, 'workers'),
      land: textIn(event, 'land'),
      tasks: numberIn(event, 'tasks'),
      windows: [],
      state: 'active',
      isOver: false,
    };
    if (known === undefined) this.runs.set(id, run);
    const window = run.windows.at(-1);
    switch (event.type) {
      case 'run.started':
      case 'run.resumed':
        run.state = 'active';
        run.isOver = false;
        if (window === undefined || window.endMs !== null) {
          run.windows.push({ startMs: event.at_ms, endMs: null });
        }
        return;
      case 'run.stopped':
      case 'run.finished':
        run.state =
          textIn(event, 'state') ?? (event.type === 'run.stopped' ? 'stopped' : 'finished');
        // The last event of a stopped run follows after its agents have ended.
        run.isOver = event.type === 'run.finished';
        if (window !== undefined) window.endMs = event.at_ms;
        return;
      default:
    }
  }

  #takeGate(event: FeedEvent): void {
    const { at_ms: endMs, seq } = event;
    const ms = Math.max(0, numberIn(event, 'duration_ms') ?? 0);
    if (event.type === 'gate.unused')
      this.unusedGates.push({ endMs, ms, taskIds: textsIn(event, 'task_ids') });
    if (event.type === 'gate.skipped') this.#takeSkipped(event);
    if (event.type !== 'gate.passed' && event.type !== 'gate.failed') return;
    const gate: GateStory = {
      seq,
      startMs: endMs - ms,
      endMs,
      isGreen: event.type === 'gate.passed',
      isFlaky: event.data['flaky'] === true,
      command: textIn(event, 'command') ?? '',
      exitCode: numberIn(event, 'exit_code'),
      commit: textIn(event, 'commit'),
      taskIds: [...textsIn(event, 'task_ids')],
      epicIds: [],
    };
    this.gates.push(gate);
    this.#unnamed = 'task_ids' in event.data ? null : gate;
  }

  #takeSkipped(event: FeedEvent): void {
    const { at_ms: endMs, data } = event;
    const stages: readonly unknown[] = Array.isArray(data['stages']) ? data['stages'] : [];
    for (const stage of stages as readonly { readonly name?: unknown; readonly paths?: unknown }[])
      this.skippedStages.push({
        endMs,
        stage: String(stage.name),
        paths: Array.isArray(stage.paths) ? stage.paths.map(String) : [],
        taskIds: textsIn(event, 'task_ids'),
      });
  }

  /**
   * An event of an older version may not name the gate's tasks. The gate then belongs to the tasks
   * that leave the landing after it.
   */
  #namesTask(story: TaskStory, event: FeedEvent): void {
    const landing = story.periods.findLast((period) => period.kind === 'landing');
    const gate = this.#unnamed;
    if (landing?.endMs !== event.at_ms || gate === null) return;
    if (gate.endMs < landing.startMs || gate.taskIds.includes(story.id)) return;
    gate.taskIds.push(story.id);
  }

  #takeEpicLanding(event: FeedEvent): void {
    if (event.epic_id === null) return;
    this.epicLandings.push({
      epicId: event.epic_id,
      sha: textIn(event, 'sha'),
      branch: textIn(event, 'branch'),
      atMs: event.at_ms,
    });
    const gate = this.gates.at(-1);
    if (gate !== undefined && gate.taskIds.length === 0) gate.epicIds.push(event.epic_id);
  }
}

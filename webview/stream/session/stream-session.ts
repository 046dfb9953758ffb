// The state of a stream panel behind its view: the displayed attempt, its log, its facts, and a
// person's actions.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { AttemptView, StepName } from '../../../server/protocol/panel-views.ts';
import type { QuestionView, TaskView } from '../../../server/protocol/views.ts';
import type { BoardController } from '../../shared/board-controller.ts';
import type { Host } from '../../shared/host.ts';
import type { FileReference } from '../../shared/text/file-reference.ts';
import { LogFeed } from '../../shared/log/log-feed.ts';
import type { WindowSide } from '../../shared/log/log-window.ts';
import { fileOfAttempt } from './file-of-attempt.ts';
import { type ComposedMessage, deliveryTo } from './hint-draft.ts';
import type { LogAhead } from './read-ahead.ts';
import { readLog, sleep, type LogReadResult } from '../../shared/log/read-log.ts';
import type { StreamPlace } from '../../shared/log/stream-memory.ts';
import type { TaskAction } from '../header/task-actions.ts';
import type { Entry } from '../../shared/log/transcript.ts';
import { visibleLine } from '../../shared/looks/visible-text.ts';
import { reportFailure } from '../../shared/report-failure.ts';

export interface SessionParts {
  readonly host: Host;
  readonly board: BoardController;
  /** The part of the log that was read before anything else was known. */
  readonly ahead: LogAhead | null;
  /** The log has changed, so the next frame redraws it. */
  readonly onLog: () => void;
  readonly farSide: () => WindowSide;
}

const cancelButton = 'End Task';
/** Far more than the number of events in a log. */
const keysOfFeed = 1e9;
const queuedHintsMax = 5;

export class StreamSession implements ReactiveController {
  readonly #component: ReactiveControllerHost;
  readonly #parts: SessionParts;
  feed: LogFeed | null = null;
  attempts: readonly AttemptView[] = [];
  /** The log currently cannot be read. */
  failure: string | null = null;
  prompt: string | null = null;
  /** Hints of this panel that no agent has received yet. */
  queuedHints: readonly string[] = [];
  /** Ids of questions whose answer is being sent. */
  answering: ReadonlySet<string> = new Set();
  busyAction: TaskAction | null = null;
  #chosen: number | null = null;
  #place: StreamPlace | null = null;
  #ahead: LogAhead | null;
  #subject: string | null = null;
  #seen = '';
  #nextFirstKey = 0;
  #wasConnected = false;
  #isReadingAttempts = false;

  constructor(component: ReactiveControllerHost, parts: SessionParts) {
    this.#component = component;
    this.#parts = parts;
    this.#ahead = parts.ahead;
    component.addController(this);
  }

  /** Called before the first update, with the panel's previous position. */
  restore(chosen: number | null, place: StreamPlace | null): void {
    this.#chosen = chosen;
    this.#place = place;
  }

  hostConnected(): void {
    document.addEventListener('visibilitychange', this.#onVisible);
    window.addEventListener('focus', this.#onFocus);
  }

  hostDisconnected(): void {
    document.removeEventListener('visibilitychange', this.#onVisible);
    window.removeEventListener('focus', this.#onFocus);
    this.feed?.stop();
    this.feed = null;
    this.#subject = null;
  }

  hostUpdate(): void {
    const { state } = this.#parts.board;
    const isConnected = state?.connection.kind === 'connected';
    // Requests that a lost backend did not answer are sent to the current one.
    if (isConnected && !this.#wasConnected) this.feed?.wake();
    this.#wasConnected = isConnected;
    if (state === null || !isConnected || state.subject.id === null) return;
    if (this.#subject !== state.subject.id) {
      this.#subject = state.subject.id;
      this.#chosen ??= state.subject.attempt;
      this.#parts.host.select([state.subject.id]);
      this.#open(this.#chosen ?? 0);
    }
    const { task } = this;
    const seen = [task?.status, task?.phase, task?.attempts, task?.updated_at].join(' ');
    if (seen === this.#seen) return;
    this.#seen = seen;
    void this.#readAttempts();
    if (this.feed?.hasEnded === true) void this.feed.follow();
  }

  get taskId(): string | null {
    return this.#subject;
  }

  get task(): TaskView | null {
    return this.#parts.board.board?.tasks.find((task) => task.id === this.#subject) ?? null;
  }

  get subTasks(): readonly TaskView[] {
    return this.#parts.board.board?.tasks.filter((task) => task.parent_id === this.#subject) ?? [];
  }

  /** The attempt that the user selected; null while the panel follows the newest one. */
  get chosenAttempt(): number | null {
    return this.#chosen;
  }

  get attempt(): AttemptView | null {
    const number = this.feed?.attempt ?? 0;
    return this.attempts.find((attempt) => attempt.number === number) ?? null;
  }

  get isNewest(): boolean {
    return this.attempt === null || this.attempt.number === this.attempts.at(-1)?.number;
  }

  /** Open questions of sub-tasks, whose rows are in separate streams. */
  get questionsOfParts(): readonly QuestionView[] {
    const ids = new Set(this.subTasks.map((part) => part.id));
    return this.#allQuestions.filter(({ task_id: id, state }) => ids.has(id) && state === 'open');
  }

  get questions(): readonly QuestionView[] {
    return this.#allQuestions.filter((question) => question.task_id === this.#subject);
  }

  get #allQuestions(): readonly QuestionView[] {
    return this.#parts.board.board?.questions ?? [];
  }

  choose(attempt: number): void {
    const newest = this.attempts.at(-1)?.number;
    this.#chosen = attempt === newest ? null : attempt;
    this.#open(attempt);
  }

  /** Shows an attempt at a position in its log, also if the log is not open yet. */
  goTo(place: StreamPlace): void {
    this.#chosen = place.attempt;
    this.#place = place;
    this.#open(place.attempt);
  }

  async answer(question: QuestionView, choice: string): Promise<void> {
    this.answering = new Set([...this.answering, question.id]);
    this.#component.requestUpdate();
    await this.#try('The answer was not sent', () =>
      this.#parts.host.backend('answer', { id: question.id, choice }),
    );
    this.answering = new Set([...this.answering].filter((id) => id !== question.id));
    this.#component.requestUpdate();
  }

  /** True if the hint was accepted. */
  async hint(message: ComposedMessage): Promise<boolean> {
    const id = this.#subject;
    if (id === null) return false;
    const { refused, isHint, send } = deliveryTo(this.#parts.host, id, this.task, message);
    const isTaken = await this.#try(refused, send);
    if (isTaken && isHint) {
      this.queuedHints = [...this.queuedHints, message.text].slice(-queuedHintsMax);
    }
    return isTaken;
  }

  /** Hints that appear in the log were sent, so they are no longer queued. */
  forgetTold(entries: readonly Entry[]): void {
    if (this.queuedHints.length === 0) return;
    const told = entries
      .slice(-500)
      .flatMap(({ body }) => (body.kind === 'hint' ? [body.text] : []));
    this.queuedHints = this.queuedHints.filter((text) => !told.includes(text));
  }

  async approve(what: 'with_ignored' | null = null): Promise<void> {
    const id = this.#subject;
    if (id === null) return;
    const more = what === null ? {} : { with_ignored: true };
    await this.#try('Not approved', () => this.#parts.host.backend('approve', { id, ...more }));
  }

  async openPart(id: string): Promise<void> {
    await this.#try('Not opened', () => this.#parts.host.action('openStream', { task: id }));
  }

  /** Agents name files in their worktree. */
  async openFile(file: FileReference): Promise<void> {
    const { attempt, task } = this;
    const opened = fileOfAttempt(file, attempt, task?.worktree_path ?? null);
    await this.#try('Not opened', () => this.#parts.host.action('openFile', opened));
  }

  /** The result of a step: its log, or its change. */
  async openStep(step: StepName): Promise<void> {
    const id = this.#subject;
    if (id === null) return;
    const { host } = this.#parts;
    const attempt = this.attempt?.number ?? 0;
    switch (step) {
      case 'commit':
      case 'land':
        await this.#try('Nothing to show', () => host.action('review', { id }));
        return;
      case 'worktree':
        await this.#try('Not opened', () => host.action('openWorktree', { task: id }));
        return;
      case 'setup':
      case 'gate':
        await this.#try('No log', () => host.action('openStepLog', { task: id, attempt, step }));
        return;
      case 'agent':
        return;
    }
  }

  async act(action: TaskAction): Promise<void> {
    const id = this.#subject;
    if (id === null || this.busyAction !== null) return;
    this.busyAction = action;
    this.#component.requestUpdate();
    await this.#do(id, action);
    this.busyAction = null;
    this.#component.requestUpdate();
  }

  async #do(id: string, action: TaskAction): Promise<void> {
    const { host } = this.#parts;
    switch (action) {
      case 'run':
        await this.#try('Not started', () => host.action('runTask', { task: id }));
        return;
      case 'pause':
        await this.#try('Not paused', () => host.backend('task.pause', { id }));
        return;
      case 'resume':
        await this.#try('Not resumed', () => host.backend('task.unpause', { id }));
        return;
      case 'merge':
        await this.#try('Not merged', () => host.action('mergeConflict', { task: id }));
        return;
      case 'retry':
        await this.#try('Not retried', () => host.action('retry', { task: id }));
        return;
      case 'startAnyway':
        return void (await this.#try('Not started', () =>
          host.action('resolve', { task: id, note: '', anyway: true }),
        ));
      case 'cancel':
        return this.#cancel(id);
      case 'takeOver':
        await this.#try('Not taken over', () => host.action('takeOver', { task: id }));
        return;
      case 'giveBack':
        await this.#try('Not returned', () => host.action('giveBack', { task: id }));
        return;
      case 'openWorktree':
        await this.#try('Not opened', () => host.action('openWorktree', { task: id }));
        return;
      case 'review':
        await this.#try('Nothing to review', () => host.action('review', { id }));
    }
  }

  async readPrompt(): Promise<void> {
    const id = this.#subject;
    const { feed } = this;
    if (id === null || feed === null || this.prompt !== null) return;
    await this.#try('The prompt could not be read', async () => {
      const attempt = feed.attempt > 0 ? { attempt: feed.attempt } : {};
      const told = await this.#parts.host.backend('log.prompt', { id, ...attempt });
      if (this.feed === feed) this.prompt = told.prompt;
    });
    this.#parts.onLog();
  }

  async #cancel(id: string): Promise<void> {
    const { host } = this.#parts;
    const title = visibleLine(this.task?.title ?? id);
    const { button } = await host.action('notify', {
      level: 'warning',
      text: `End “${title}”? Its agent is stopped. Its work is kept as a snapshot.`,
      buttons: [cancelButton],
    });
    if (button !== cancelButton) return;
    await this.#try('Not cancelled', () => host.backend('task.cancel', { id }));
  }

  async #try(what: string, action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      await reportFailure(this.#parts.host, error, what);
      return false;
    }
  }

  #open(attempt: number): void {
    const id = this.#subject;
    if (id === null) return;
    this.feed?.stop();
    this.prompt = null;
    this.#nextFirstKey += keysOfFeed;
    // A position belongs to its attempt; if the newest attempt turns out to be another one, that
    // one is shown.
    const left = this.#place;
    this.#place = null;
    const place = left !== null && (attempt === 0 || left.attempt === attempt) ? left : null;
    const feed = new LogFeed({
      id,
      attempt: place?.attempt ?? attempt,
      firstKey: this.#nextFirstKey,
      read: (params) => readLog(this.#parts.host, params),
      ahead: this.#takeAhead(id, attempt),
      onChange: () => this.#parts.onLog(),
      onFailure: (error) => this.#fail(feed, error),
      sleep,
      farSide: this.#parts.farSide,
    });
    this.feed = feed;
    void feed.run(place);
    this.#parts.onLog();
  }

  /** Valid only for the first read. */
  #takeAhead(id: string, attempt: number): Promise<LogReadResult> | null {
    const ahead = this.#ahead;
    this.#ahead = null;
    return ahead?.id === id && ahead.attempt === attempt ? ahead.answer : null;
  }

  #fail(feed: LogFeed, error: Error | null): void {
    if (this.feed !== feed) return;
    const failure = error === null ? null : visibleLine(error.message);
    if (failure === this.failure) return;
    this.failure = failure;
    this.#component.requestUpdate();
  }

  async #readAttempts(): Promise<void> {
    if (this.#isReadingAttempts) return;
    this.#isReadingAttempts = true;
    const seen = this.#seen;
    try {
      this.attempts = await this.#parts.host.backend('attempts', { id: this.#rootId() });
      this.#followNewest();
      this.#component.requestUpdate();
    } catch {
      // The log reports a backend that does not answer; the header keeps its content.
    } finally {
      this.#isReadingAttempts = false;
    }
    if (seen !== this.#seen) await this.#readAttempts();
  }

  /** A new attempt is shown if the user selected no other one. */
  #followNewest(): void {
    const newest = this.attempts.at(-1)?.number ?? 0;
    const shown = this.feed?.attempt ?? 0;
    if (this.#chosen !== null || shown === 0 || newest <= shown) return;
    // Its prompt contains the hints that no earlier attempt received.
    this.queuedHints = [];
    this.#open(newest);
  }

  #rootId(): string {
    const tasks = this.#parts.board.board?.tasks ?? [];
    let id = this.#subject ?? '';
    for (let depth = 0; depth < 10; depth += 1) {
      const parent = tasks.find((task) => task.id === id)?.parent_id ?? null;
      if (parent === null) break;
      id = parent;
    }
    return id;
  }

  /** A page that a single click opened has not had the focus until now. */
  readonly #onFocus = (): void => {
    if (this.#subject !== null) this.#parts.host.select([this.#subject]);
  };

  readonly #onVisible = (): void => {
    if (document.visibilityState === 'visible') this.feed?.wake();
  };
}

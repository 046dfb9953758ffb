// The stream panel: one attempt of one task, from its header to the field for messages to its
// agent.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { StepName } from '../../server/protocol/panel-views.ts';
import type { QuestionView } from '../../server/protocol/views.ts';
import { BoardController } from '../shared/board-controller.ts';
import type { Host } from '../shared/host.ts';
import { Announcer } from './session/announce.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import './header/drover-composer.ts';
import type { DroverFind } from './find/drover-find.ts';
import './header/drover-stream-header.ts';
import { taskTemplate, usualPage } from '../shared/task/task-template.ts';
import type { DroverTranscript } from './transcript/drover-transcript.ts';
import { entryText } from '../shared/log/entry-text.ts';
import { foldKey, type EntryActions } from './transcript/entry-view.ts';
import { follow, following, type FollowState } from './transcript/follow.ts';
import { FramePace } from '../shared/looks/frame-pace.ts';
import { iconStyles } from '../shared/looks/icon.ts';
import type { LogFeed } from '../shared/log/log-feed.ts';
import { bindQuestions, type BoundQuestions } from './session/question-binding.ts';
import { type ComposedMessage, HintDraft } from './session/hint-draft.ts';
import { entryAt, longestWord, type PlaceAhead } from './session/place-ahead.ts';
import { readAhead } from './session/read-ahead.ts';
import { saidBefore } from './session/said-before.ts';
import { StreamFind } from './find/stream-find.ts';
import { boundedFolds, readMemory, type StreamPage } from '../shared/log/stream-memory.ts';
import { StreamSession } from './session/stream-session.ts';
import { streamStyles } from './stream-styles.ts';
import { bodyTemplate, type StreamBody } from './stream-body.ts';
import { connectionTemplate } from '../shared/connection-template.ts';
import { menuContext, promptEntry, tabsTemplate, waitingTemplate } from './stream-templates.ts';
import { todoStyles } from './transcript/todo-template.ts';
import type { TaskAction } from './header/task-actions.ts';
import type { Entry } from '../shared/log/transcript.ts';

const rememberMs = 300;

export class DroverStream extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [controlStyles, iconStyles, streamStyles, todoStyles];
  declare host: Host | null;
  #board: BoardController | null = null;
  #session: StreamSession | null = null;
  #pace: FramePace | null = null;
  #find: StreamFind | null = null;
  #entries: readonly Entry[] = [];
  #feed: LogFeed | null = null;
  #arrived = 0;
  #revision = 0;
  #follow: FollowState = following;
  #folds = new Set<string>();
  #shownAll = new Set<number>();
  #draft: HintDraft | null = null;
  #place: PlaceAhead | null = null;
  #rememberTimer: ReturnType<typeof setTimeout> | null = null;
  readonly #announcer = new Announcer();
  #page: StreamPage | null = null;

  constructor() {
    super();
    this.host = null;
  }

  /** Everything depends on the host, which is set once, before the element is on the page. */
  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('host') || this.host === null || this.#session !== null) return;
    const { host } = this;
    const memory = readMemory(host.memory.get());
    this.#folds = new Set(memory.folds);
    this.#draft = new HintDraft(memory.draft, {
      memory: host.memory,
      send: async (message) => (await this.#session?.hint(message)) ?? false,
      changed: () => this.requestUpdate(),
    });
    this.#page = memory.page;
    this.#place = memory.place === null ? null : { ...memory.place, words: null };
    if (memory.place !== null) this.#follow = { isFollowing: false, newCount: 0 };
    this.#pace = new FramePace(host, () => this.#takeLog());
    const board = new BoardController(this, host);
    board.onAction = (action) => {
      if (action === 'find') this.#openFind();
      else if (action === 'place') void this.#readPlace(host);
      else if (action === 'copy') this.#copy();
      else if (action === 'focus') this.#transcript?.focusEntry(this.#entries.length - 1);
    };
    this.#board = board;
    this.#session = new StreamSession(this, {
      host,
      board,
      ahead: memory.place === null ? readAhead(host, memory.attempt) : null,
      onLog: () => this.#pace?.wanted(),
      farSide: () => this.#farSide(),
    });
    this.#session.restore(memory.attempt, memory.place);
    this.#find = new StreamFind({
      feed: () => this.#session?.feed ?? null,
      entries: () => this.#session?.feed?.window.transcript.entries ?? [],
      onHit: (key) => this.#showHit(key),
      onChange: () => this.#pace?.wanted(),
    });
    void this.#readPlace(host);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // This also works while the focus is outside the panel.
    window.addEventListener('keydown', this.#onKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('keydown', this.#onKey);
    this.#pace?.stop();
    if (this.#rememberTimer !== null) clearTimeout(this.#rememberTimer);
  }

  get #transcript(): DroverTranscript | null {
    return this.renderRoot.querySelector('drover-transcript');
  }

  override render(): TemplateResult {
    const session = this.#session;
    const state = this.#board?.state ?? null;
    if (session === null || state === null) return html`${nothing}`;
    const instead = connectionTemplate(state, this.host);
    if (instead !== null) return instead;
    const { feed, task } = session;
    const page = this.#page ?? usualPage(task);
    const bound = bindQuestions(
      this.#entries,
      session.questions,
      session.taskId ?? '',
      feed?.attempt ?? 0,
    );
    return html`<main>
      <drover-stream-header
        .task=${task}
        .taskId=${session.taskId ?? ''}
        .attempts=${session.attempts}
        .attempt=${session.attempt}
        .usage=${feed?.usage ?? null}
        .subTasks=${session.subTasks}
        .isAsking=${session.questions.length > 0}
        @attempt=${(event: CustomEvent<number>) => this.#choose(event.detail)}
        @part=${(event: CustomEvent<string>) => void session.openPart(event.detail)}
        @step=${(event: CustomEvent<StepName>) => this.#openStep(session, event.detail)}
        @act=${(event: CustomEvent<TaskAction>) => void session.act(event.detail)}
      ></drover-stream-header>
      ${tabsTemplate(page, (chosen) => this.#setPage(chosen))}
      ${page === 'task' ? taskTemplate(this.host, state, task) : this.#body(session, bound)}
      ${waitingTemplate(session, bound)}
      <drover-composer
        .task=${task}
        .draft=${this.#draft?.text ?? ''}
        .isSending=${this.#draft?.isSending ?? false}
        .busyAction=${session.busyAction}
        .host=${this.host}
        .said=${this.#said}
        @draft=${(event: CustomEvent<string>) => this.#setDraft(event.detail)}
        @hint=${(event: CustomEvent<ComposedMessage>) => void this.#draft?.send(event.detail)}
        @act=${(event: CustomEvent<TaskAction>) => void session.act(event.detail)}
      ></drover-composer>
      <div class="hidden" role="log" aria-live="polite">${this.#announcer.text}</div>
    </main>`;
  }

  #body(session: StreamSession, bound: BoundQuestions): TemplateResult {
    return bodyTemplate({
      session,
      bound,
      find: this.#find,
      entries: this.#entries,
      revision: this.#revision,
      folds: this.#folds,
      shownAll: this.#shownAll,
      actions: this.#actions,
      follow: this.#follow,
      context: menuContext(session),
      on: this.#bodyEvents,
    });
  }

  readonly #bodyEvents: StreamBody['on'] = {
    search: (query) => {
      this.#find?.typed(query);
      this.requestUpdate();
    },
    closeFind: () => this.#closeFind(),
    follow: (state) => this.#setFollow(state),
    moved: () => this.#rememberSoon(),
    toEnd: () => void this.#toEnd(),
  };

  readonly #actions: EntryActions = {
    toggle: (entry) => {
      const key = foldKey(entry);
      if (key === null) return;
      this.#folds = new Set(this.#folds);
      if (!this.#folds.delete(key)) this.#folds.add(key);
      if (entry.body.kind === 'prompt') void this.#session?.readPrompt();
      this.#rememberSoon();
      this.requestUpdate();
    },
    showAll: (entry) => {
      this.#shownAll = new Set([...this.#shownAll, entry.key].slice(-200));
      this.requestUpdate();
    },
    copy: (entry) => void this.host?.action('copy', { text: entryText(entry) }),
    answer: (question: QuestionView, choice) => void this.#session?.answer(question, choice),
    openFile: (file) => void this.#session?.openFile(file),
  };

  /** Adds the log lines that were read, once per frame. */
  #takeLog(): void {
    const session = this.#session;
    const feed = session?.feed ?? null;
    if (session === null || feed === null) return this.requestUpdate();
    const { transcript } = feed.window;
    // This counts events, not entries, because a block of output grows without adding entries.
    const count = this.#feed === feed ? feed.arrivedEvents - this.#arrived : 0;
    this.#feed = feed;
    this.#arrived = feed.arrivedEvents;
    this.#revision += 1;
    const hasBegin = feed.isOpen && !feed.hasOlder && transcript.entries.length > 0;
    this.#entries = hasBegin ? [promptEntry(session), ...transcript.entries] : transcript.entries;
    this.#follow = follow(this.#follow, { type: 'arrived', count });
    if (!feed.isAtEnd) this.#follow = follow(this.#follow, { type: 'left_end' });
    session.forgetTold(this.#entries);
    this.#announcer.take(this.#entries, Date.now());
    this.#goToPlace();
    if (this.#entries.length > 0) this.#pace?.opened();
    this.requestUpdate();
  }

  /** Restores the panel's position, or goes to the requested one; only once. */
  #goToPlace(): void {
    const place = this.#place;
    const feed = this.#session?.feed ?? null;
    if (place === null || feed === null || !feed.isOpen) return;
    this.#place = null;
    const key = entryAt(feed, this.#entries, place);
    if (key === null) this.#follow = following;
    else if (place.words === null)
      void this.updateComplete.then(() => this.#transcript?.startAt(key, place.px));
    else this.#find?.openAt({ text: longestWord(place.words), matchesCase: false }, key);
  }

  /** A search in transcripts found a match here. */
  async #readPlace(host: Host): Promise<void> {
    const { place } = await host.action('readPlace', {}).catch(() => ({ place: null }));
    const attempt = host.subject?.attempt ?? null;
    if (place === null || attempt === null) return;
    this.#page = 'stream';
    this.#follow = { isFollowing: false, newCount: 0 };
    this.#place = { ...place, index: 0, px: 0 };
    this.#session?.goTo({ attempt, offset: place.offset, index: 0, px: 0 });
    this.requestUpdate();
  }

  #setPage(page: StreamPage): void {
    this.#page = page;
    this.#rememberSoon();
    this.requestUpdate();
  }

  /** The agent's log is the stream itself; every other step has a separate log or diff. */
  #openStep(session: StreamSession, step: StepName): void {
    if (step === 'agent') this.#setPage('stream');
    else void session.openStep(step);
  }

  #setFollow(state: FollowState): void {
    const isAtEnd = this.#session?.feed?.isAtEnd ?? true;
    this.#follow = isAtEnd ? state : { ...state, isFollowing: false };
    this.requestUpdate();
  }

  async #toEnd(): Promise<void> {
    await this.#session?.feed?.jumpToEnd();
    this.#follow = following;
    this.#takeLog();
    await this.updateComplete;
    this.#transcript?.list.toEnd();
    this.#transcript?.focusEntry(this.#entries.length - 1);
  }

  #farSide(): 'front' | 'back' {
    if (this.#follow.isFollowing) return 'front';
    const top = this.#transcript?.list.topRow()?.index ?? 0;
    return top > this.#entries.length / 2 ? 'front' : 'back';
  }

  #choose(attempt: number): void {
    this.#follow = following;
    this.#shownAll = new Set();
    this.#announcer.reset();
    this.#session?.choose(attempt);
    this.#rememberSoon();
  }

  // Search

  #openFind(): void {
    this.#page = 'stream';
    if (this.#find?.query === null) {
      const selected = this.#transcript?.selectedText().split('\n')[0] ?? '';
      this.#find.open({ text: selected.slice(0, 200), matchesCase: false });
    }
    this.requestUpdate();
    void this.updateComplete.then(() => {
      return this.renderRoot.querySelector<DroverFind>('drover-find')?.enter();
    });
  }

  #closeFind(): void {
    const current = this.#find?.current ?? null;
    this.#find?.close();
    this.requestUpdate();
    const index = current === null ? -1 : (this.#transcript?.indexOf(current) ?? -1);
    this.#transcript?.focusEntry(index === -1 ? this.#entries.length - 1 : index);
  }

  #showHit(key: number): void {
    this.#follow = follow(this.#follow, { type: 'left_end' });
    this.#takeLog();
    const index = this.#entries.findIndex((entry) => entry.key === key);
    const entry = this.#entries[index];
    if (entry === undefined) return;
    this.#transcript?.open(entry);
    void this.updateComplete.then(() => this.#transcript?.showEntry(key));
  }

  // A person's actions

  #copy(): void {
    const selected = this.#transcript?.selectedText() ?? '';
    const active = this.#transcript?.activeEntry ?? null;
    const text = selected !== '' ? selected : active === null ? '' : entryText(active);
    if (text !== '') void this.host?.action('copy', { text });
  }

  #setDraft(draft: string): void {
    if (this.#draft !== null) this.#draft.text = draft;
    this.#rememberSoon();
  }

  readonly #said = (): string[] => saidBefore(this.#entries, this.#session?.queuedHints ?? []);

  readonly #onKey = (event: KeyboardEvent): void => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key.toLowerCase() === 'f') this.#openFind();
    else if (event.key === 'F3' && this.#find?.query !== null) {
      void this.#find?.step(event.shiftKey ? 'older' : 'newer');
    } else if (
      isCommand &&
      event.key.toLowerCase() === 'c' &&
      this.#transcript?.selectedText() === '' &&
      event.composedPath().some((node) => node instanceof Element && node.matches('.row'))
    ) {
      this.#copy();
    } else return;
    event.preventDefault();
  };

  /** Not after it is removed, because the page then remembers another task. */
  #rememberSoon(): void {
    if (this.isConnected) this.#rememberTimer ??= setTimeout(() => this.rememberNow(), rememberMs);
  }

  /** Stores the pending state now, because the page is about to be removed. */
  rememberNow(): void {
    if (this.#rememberTimer === null) return;
    clearTimeout(this.#rememberTimer);
    this.#rememberTimer = null;
    this.#remember();
  }

  #remember(): void {
    const feed = this.#session?.feed ?? null;
    const top = this.#transcript?.list.topRow() ?? null;
    const entry = top === null ? undefined : this.#entries[top.index];
    const at = entry === undefined ? null : (feed?.window.placeOf(entry.key) ?? null);
    const isAtEnd = this.#follow.isFollowing || feed === null || at === null || top === null;
    this.host?.memory.set({
      attempt: this.#session?.chosenAttempt ?? null,
      place: isAtEnd ? null : { attempt: feed.attempt, ...at, px: top.px },
      folds: boundedFolds(this.#folds),
      draft: this.#draft?.kept ?? '',
      page: this.#page,
    });
  }
}

customElements.define('drover-stream', DroverStream);

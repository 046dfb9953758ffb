// All running agents in a grid. Arrow keys move between tiles, and Enter opens a tile's stream.

import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { Ticks } from '../shared/ticks.ts';
import { BoardController } from '../shared/board-controller.ts';
import type { Host } from '../shared/host.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { FramePace } from '../shared/looks/frame-pace.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { readLog, sleep } from '../shared/log/read-log.ts';
import { connectionTemplate } from '../shared/connection-template.ts';
import './drover-tile.ts';
import type { DroverTile } from './drover-tile.ts';
import { liveAgents, nextLate, tileBeside, type LiveAgent } from './live-agents.ts';
import { TileFeed } from './tile-feed.ts';
import { Turns } from './tile-turns.ts';
import '../shared/looks/button.ts';

/** Update interval of running times. */
const tickMs = 125;

export class DroverGrid extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [
    controlStyles,
    iconStyles,
    css`
      :host {
        display: block;
        height: 100%;
        overflow: auto;
        background: var(--vscode-editor-background);
      }
      .tiles {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr));
        grid-auto-rows: minmax(150px, 1fr);
        gap: 8px;
        min-height: calc(100% - 16px);
        margin: 0;
        padding: 8px;
        box-sizing: border-box;
        list-style: none;
      }
      li {
        min-width: 0;
        content-visibility: auto;
        contain-intrinsic-size: 260px 150px;
      }
      .empty {
        display: flex;
        flex-direction: column;
        align-items: center;
        gap: 12px;
        padding: 48px 16px;
        color: var(--vscode-descriptionForeground);
        text-align: center;
      }
    `,
  ];
  declare host: Host | null;
  #board: BoardController | null = null;
  #pace: FramePace | null = null;
  #agents: readonly LiveAgent[] = [];
  /** Keyed by the id of the log, with the board's values of its task at that time. */
  readonly #feeds = new Map<string, { feed: TileFeed; attempts: number; phase: string | null }>();
  /** Tiles whose lines have changed since they were drawn. */
  readonly #changed = new Set<TileFeed>();
  readonly #turns = new Turns();
  #activeId: string | null = null;

  constructor() {
    super();
    this.host = null;
    new Ticks(this, tickMs, () => this.#tick());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.#onVisible);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.#onVisible);
    this.#pace?.stop();
    for (const { feed } of this.#feeds.values()) feed.stop();
    this.#feeds.clear();
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('host') && this.host !== null && this.#board === null) {
      this.#board = new BoardController(this, this.host);
      this.#board.onAction = (action) => {
        if (action === 'focus') this.#focus(this.#activeIndex());
      };
      this.#pace = new FramePace(this.host, () => this.#drawChanged(), 'grid');
    }
    const board = this.#board?.board ?? null;
    this.#agents = board === null ? [] : liveAgents(board);
    this.#matchFeeds();
  }

  override render(): TemplateResult {
    const state = this.#board?.state ?? null;
    if (state === null) return html`${nothing}`;
    const instead = connectionTemplate(state, this.host);
    if (instead !== null) return instead;
    if (this.#agents.length === 0) return this.#empty();
    const active = this.#activeIndex();
    return html`<ul class="tiles" aria-label="Agents" @keydown=${this.#onKey}>
      ${repeat(
        this.#agents,
        (agent) => agent.task.id,
        (agent, index) => this.#tile(agent, index === active),
      )}
    </ul>`;
  }

  override updated(): void {
    if (this.#board?.state !== null && this.#board !== null) this.#pace?.opened();
  }

  #empty(): TemplateResult {
    return html`<div class="empty">
      <p>No agents are running.</p>
      <vscode-button @click=${() => void this.host?.action('runAll', {})}>
        ${icon('play')} Run All
      </vscode-button>
    </div>`;
  }

  #tile(agent: LiveAgent, isActive: boolean): TemplateResult {
    const feed = this.#feeds.get(agent.logId)?.feed;
    const questions = this.#board?.board?.questions ?? [];
    const ids = new Set([agent.task.id, agent.logId]);
    const waiting = questions.filter(
      (question) => ids.has(question.task_id) && question.state === 'open',
    );
    return html`<li
      data-vscode-context=${JSON.stringify({
        webviewSection: 'task',
        taskId: agent.task.id,
        status: agent.task.status,
        preventDefaultContextMenuItems: true,
      })}
    >
      <drover-tile
        data-id=${agent.task.id}
        .agent=${agent}
        .feed=${feed ?? null}
        .questions=${waiting}
        .isActive=${isActive}
        @click=${() => this.#open(agent)}
        @answer=${(event: CustomEvent<{ id: string; choice: string }>) => {
          void this.host?.backend('answer', event.detail);
        }}
        @focusin=${() => {
          this.#activeId = agent.task.id;
          this.host?.select([agent.task.id]);
        }}
      ></drover-tile>
    </li>`;
  }

  #drawChanged(): void {
    const nowMs = Date.now();
    const tiles = this.#tiles();
    for (const tile of tiles) {
      if (tile.feed === null || !this.#changed.has(tile.feed)) continue;
      tile.newsMs = nowMs;
      tile.requestUpdate();
    }
    this.#changed.clear();
    this.#drawLate(tiles, nowMs);
  }

  #tick(): void {
    // A drawing that is due includes the late tiles, because two in a row would wait for each
    // other.
    if (this.#changed.size === 0) this.#drawLate(this.#tiles(), Date.now());
  }

  #drawLate(tiles: readonly DroverTile[], nowMs: number): void {
    const late = tiles.filter((tile) => tile.isLate(nowMs));
    for (const tile of nextLate(late, tiles.length)) tile.requestUpdate();
  }

  #tiles(): readonly DroverTile[] {
    return [...this.renderRoot.querySelectorAll<DroverTile>('drover-tile')];
  }

  #open(agent: LiveAgent): void {
    void this.host?.action('openStream', { task: agent.logId });
  }

  /** One feed for every log that is being written; feeds of ended agents stop. */
  #matchFeeds(): void {
    const { host } = this;
    if (host === null) return;
    const wanted = new Map(this.#agents.map((agent) => [agent.logId, agent]));
    for (const [id, { feed }] of this.#feeds) {
      if (wanted.has(id)) continue;
      feed.stop();
      this.#feeds.delete(id);
    }
    this.#turns.tiles = wanted.size;
    for (const [id, { task }] of wanted) {
      const present = this.#feeds.get(id);
      const { attempts, phase } = task;
      if (present?.attempts === attempts) {
        // An ended attempt continues if its agent was paused, or got another message.
        if (present.phase !== phase && present.feed.hasEnded) void present.feed.run();
        present.phase = phase;
        continue;
      }
      present?.feed.stop();
      const feed = this.#feedOf(host, id);
      this.#feeds.set(id, { feed, attempts, phase });
      void feed.run();
    }
  }

  #feedOf(host: Host, id: string): TileFeed {
    const feed = new TileFeed({
      id,
      read: (params) => readLog(host, params),
      onChange: () => {
        this.#changed.add(feed);
        this.#pace?.wanted();
      },
      sleep,
      turn: (signal) => this.#turns.next([...this.#feeds.keys()].indexOf(id), signal),
    });
    return feed;
  }

  #activeIndex(): number {
    return Math.max(
      0,
      this.#agents.findIndex((agent) => agent.task.id === this.#activeId),
    );
  }

  #focus(index: number): void {
    this.#activeId = this.#agents[index]?.task.id ?? null;
    this.requestUpdate();
    void this.updateComplete.then(async () => {
      const tile = this.renderRoot.querySelectorAll<DroverTile>('drover-tile')[index];
      await tile?.updateComplete;
      tile?.focusHead();
    });
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const tiles = this.renderRoot.querySelector('.tiles');
    if (tiles === null || event.altKey || event.ctrlKey || event.metaKey) return;
    const columns = getComputedStyle(tiles).gridTemplateColumns.split(' ').length;
    const index = this.#activeIndex();
    const next = tileBeside(index, event.key, columns, this.#agents.length);
    if (next === index) return;
    event.preventDefault();
    this.#focus(next);
  };

  readonly #onVisible = (): void => {
    if (document.visibilityState !== 'visible') return;
    for (const { feed } of this.#feeds.values()) feed.wake();
  };
}

customElements.define('drover-grid', DroverGrid);

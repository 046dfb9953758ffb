// The page of `drover web`: VS Code's panels side by side, or one at a time on a phone.

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { agentKinds } from '../../server/core/plan/task.ts';
import { listNeeds } from '../../server/protocol/needs.ts';
import type { ToPage, WebDevice, WebProject } from '../../server/protocol/web/wire.ts';
import { type ActionParts, decide, pageActions } from './actions.ts';
import { Dialogs } from './dialogs.ts';
import './drover-devices.ts';
import './drover-review.ts';
import { deskStyles } from './desk-styles.ts';
import { openMenu } from './menu.ts';
import { OpenProject, type ProjectNews } from './open-project.ts';
import { PanelFrame, type PanelPlace } from './panel-frame.ts';
import { PageNotices } from './notices.ts';
import { placeUrl, panelPlace, type Place, parsePlace, placeKey, parseProject } from './places.ts';
import { PageSocket, type SocketState } from './socket.ts';

const framesMax = 8;
const phone = matchMedia('(max-width: 600px)');

const tabs: readonly (readonly [Place, string])[] = [
  [panelPlace('inbox'), 'Inbox'],
  [panelPlace('tree'), 'Tasks'],
  [panelPlace('board'), 'Board'],
  [panelPlace('grid'), 'Agents'],
  [panelPlace('run'), 'Runs'],
  [panelPlace('worktrees'), 'Worktrees'],
  [{ name: 'devices' }, 'Devices'],
];

export class DroverDesk extends LitElement {
  static override readonly properties = {
    place: { state: true },
    frames: { state: true },
    socketState: { state: true },
    projectId: { state: true },
    text: { state: true },
  };
  static override readonly styles = deskStyles;

  declare place: Place;
  /**
   * In the order in which they were opened, because a frame that moves in the document loads again.
   */
  declare frames: readonly PanelFrame[];
  declare socketState: SocketState;
  declare projectId: string;
  /** A log or a file in front of everything else. */
  declare text: { readonly title: string; readonly text: string } | null;
  readonly #dialogs = new Dialogs();
  readonly #projects = new Map<string, OpenProject>();
  readonly #socket: PageSocket;
  readonly #notices = new PageNotices();
  #device: WebDevice | null = null;

  constructor() {
    super();
    this.place = parsePlace(location.hash) ?? firstPlace();
    this.frames = [];
    this.socketState = { kind: 'connecting' };
    this.projectId = '';
    this.text = null;
    this.#socket = new PageSocket(
      (message) => this.#take(message),
      (state) => this.#socketIs(state),
    );
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#socket.connect();
    window.addEventListener('popstate', () => this.#goTo(location.hash));
    navigator.serviceWorker?.addEventListener('message', ({ data }) => {
      const { hash } = data as { readonly hash: string };
      history.pushState(null, '', hash);
      this.#goTo(hash);
    });
    phone.addEventListener('change', () => this.#show(this.place));
  }

  get #project(): OpenProject | null {
    return this.#projects.get(this.projectId) ?? null;
  }

  override render(): TemplateResult {
    const { kind } = this.socketState;
    return html`
      ${this.#renderBar()}
      <div class="views" ?inert=${this.text !== null}>
        ${repeat(
          this.frames,
          ({ place }) => placeKey(place),
          (frame) =>
            html`<div class="view ${this.#viewClass(frame.place)}">
              ${frame.place.name === 'tree' ? this.#renderTreeBar(frame) : nothing} ${frame.element}
            </div>`,
        )}
        ${this.#renderOwnPlace()}
      </div>
      ${kind === 'open' ? nothing : this.#renderState(this.socketState)}
      ${this.text === null ? nothing : this.#renderText(this.text)} ${this.#dialogs}
    `;
  }

  #renderBar(): TemplateResult {
    const waiting = this.#waiting();
    return html`<nav aria-label="Views">
      ${
        this.#projects.size > 1
          ? html`<select
              aria-label="Project"
              @change=${(event: Event) => this.#choose((event.target as HTMLSelectElement).value)}
            >
              ${[...this.#projects.values()].map(
                ({ project: { id, name } }) =>
                  html`<option value=${id} ?selected=${id === this.projectId}>${name}</option>`,
              )}
            </select>`
          : nothing
      }
      ${tabs.map(([place, title]) => {
        const isCurrent = placeKey(place) === placeKey(this.place);
        return html`<a
          href=${this.#addressOf(place)}
          class=${place.name}
          aria-current=${isCurrent ? 'page' : 'false'}
          @click=${(event: Event) => this.#follow(event, place)}
          >${title}${
            place.name === 'inbox' && waiting > 0
              ? html`<span class="count" aria-label="${waiting} waiting">${waiting}</span>`
              : nothing
          }</a
        >`;
      })}
      ${
        this.#notices.canAsk
          ? html`<button
              @click=${async () => {
                await this.#notices.ask();
                this.requestUpdate();
              }}
            >
              Notify Me
            </button>`
          : nothing
      }
    </nav>`;
  }

  #renderTreeBar(frame: PanelFrame): TemplateResult {
    return html`<div class="bar" role="toolbar" aria-label="Tasks">
      <button @click=${() => frame.do('newTask', [])}>New Task</button>
      <button @click=${() => frame.do('newEpic', [])}>New Epic</button>
      <button @click=${() => this.#menu(frame, frame.selection[0] ?? null)}>Actions…</button>
    </div>`;
  }

  #renderOwnPlace(): TemplateResult | typeof nothing {
    const project = this.#project;
    const { place } = this;
    if (place.name === 'review' && project !== null) {
      const parts = this.#parts(project);
      const { id } = place;
      return html`<drover-review
        class="view main shown"
        .project=${project}
        .board=${project.board}
        .subject=${id}
        .onApprove=${async (subject: string, seen: string) => {
          await this.#try(() =>
            decide(parts, subject, () => project.request('approve', { id: subject, seen })),
          );
          history.back();
        }}
        .onSendBack=${async (subject: string, text: string) => {
          await this.#try(() => pageActions(parts)('sendBack', { id: subject, text }));
          history.back();
        }}
      ></drover-review>`;
    }
    if (place.name !== 'devices' || this.#device === null) return nothing;
    const request = (name: string, params: object): Promise<unknown> =>
      this.#socket.ask('', name, params);
    return html`<drover-devices
      class="view main shown"
      .request=${request}
      .own=${this.#device}
    ></drover-devices>`;
  }

  #renderState(state: SocketState): TemplateResult {
    return state.kind === 'refused'
      ? html`<div class="wall" role="alert"><p>${state.message}</p></div>`
      : html`<div class="lost" role="status">Connecting…</div>`;
  }

  #renderText({ title, text }: { title: string; text: string }): TemplateResult {
    return html`<section class="text" aria-label=${title}>
      <header>
        <h1>${title}</h1>
        <button @click=${() => (this.text = null)}>Close</button>
      </header>
      <pre tabindex="0">${text}</pre>
    </section>`;
  }

  /** The location of a view: beside the others on a wide page, alone on a phone. */
  #viewClass(place: PanelPlace): string {
    const isSide = place.name === 'tree' || place.name === 'inbox';
    const isShown = placeKey(place) === placeKey(this.place);
    return `${isSide ? place.name : 'main'}${isShown ? ' shown' : ''}`;
  }

  #follow(event: Event, place: Place): void {
    event.preventDefault();
    this.#open(place);
  }

  #open(place: Place): void {
    if (placeKey(place) === placeKey(this.place)) return;
    history.pushState(null, '', this.#addressOf(place));
    this.#show(place);
  }

  /** Shows the location in an address, which may be in another project. */
  #goTo(hash: string): void {
    const project = parseProject(hash) ?? this.projectId;
    const place = parsePlace(hash) ?? firstPlace();
    if (project !== this.projectId && this.#projects.has(project)) this.#choose(project, place);
    else this.#show(place);
  }

  #addressOf(place: Place): string {
    return placeUrl(place, this.#projects.size > 1 ? this.projectId : null);
  }

  /** On a wide page, the tree and the inbox are always visible, so the main view stays. */
  #show(place: Place): void {
    const isSide = place.name === 'tree' || place.name === 'inbox';
    if (isSide) this.place = phone.matches ? panelPlace(place.name) : firstPlace();
    else this.place = place;
    this.text = null;
    this.#ensureFrames();
    if (place.name !== 'inbox' || place.id === null) return;
    const frame = this.frames.find((each) => each.place.name === 'inbox');
    frame?.do('focus', [place.id]);
  }

  #ensureFrames(): void {
    const project = this.#project;
    if (project === null) return;
    const wanted: PanelPlace[] = phone.matches ? [] : [panelPlace('tree'), panelPlace('inbox')];
    if (this.place.name !== 'devices' && this.place.name !== 'review') wanted.push(this.place);
    const keys = new Set(wanted.map(placeKey));
    const added = wanted.filter(
      (place) => !this.frames.some((frame) => placeKey(frame.place) === placeKey(place)),
    );
    const all = [...this.frames, ...added.map((place) => this.#frame(project, place))];
    const spare = all.filter(({ place }) => !keys.has(placeKey(place)));
    const dropped = new Set(spare.slice(0, Math.max(0, all.length - framesMax)));
    for (const frame of dropped) frame.dispose();
    this.frames = all.filter((frame) => !dropped.has(frame));
  }

  #frame(project: OpenProject, place: PanelPlace): PanelFrame {
    const parts = this.#parts(project);
    const title = tabs.find(([tab]) => tab.name === place.name)?.[1] ?? 'Task';
    const frame: PanelFrame = new PanelFrame(place, title, {
      project,
      menu: (subject) => this.#menu(frame, subject),
      action: pageActions(parts),
      decided: (id, request) => decide(parts, id, request),
      agents: agentKinds,
    });
    return frame;
  }

  #parts(project: OpenProject): ActionParts {
    return {
      project,
      dialogs: this.#dialogs,
      open: (place) => this.#open(place),
      review: (id) => this.#open({ name: 'review', id }),
      showText: (title, text) => (this.text = { title, text }),
    };
  }

  #menu(frame: PanelFrame, subject: string | null): void {
    const project = this.#project;
    if (project !== null) void this.#try(() => openMenu(this.#parts(project), frame, subject));
  }

  async #try(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#dialogs.tell('error', (error as Error).message);
    }
  }

  #take(message: ToPage): void {
    if (message.type === 'welcome') return this.#welcome(message);
    if (message.type === 'projects') return this.#list(message.projects);
    if (message.type !== 'connection' && message.type !== 'feed') return;
    const project = this.#projects.get(message.project);
    if (message.type === 'feed') project?.reach(message.seq);
    else project?.hear(message.connection);
  }

  #welcome({ device, projects }: Extract<ToPage, { type: 'welcome' }>): void {
    this.#device = device;
    this.#list(projects);
    this.#connect();
    this.#show(this.frames.length === 0 ? (parsePlace(location.hash) ?? firstPlace()) : this.place);
  }

  #list(projects: readonly WebProject[]): void {
    const ids = new Set(projects.map(({ id }) => id));
    for (const id of [...this.#projects.keys()].filter((known) => !ids.has(known))) {
      this.#projects.get(id)?.lost();
      this.#projects.delete(id);
    }
    for (const project of projects) {
      if (this.#projects.has(project.id)) continue;
      const opened = new OpenProject(project, this.#socket, (news) => this.#hear(opened, news));
      this.#projects.set(project.id, opened);
    }
    const [first] = projects;
    if (first === undefined || ids.has(this.projectId)) return this.requestUpdate();
    const linked = parseProject(location.hash) ?? first.id;
    if (this.projectId === '') this.projectId = ids.has(linked) ? linked : first.id;
    else this.#choose(first.id);
  }

  /** The server starts the backend of a project when a page shows it. */
  #connect(): void {
    const opening = this.#socket.ask('', 'web.open', { project: this.projectId });
    void opening.catch((error: unknown) => console.warn(String(error)));
  }

  #hear(project: OpenProject, news: ProjectNews): void {
    if (project.project.id !== this.projectId) return;
    for (const frame of this.frames) frame.hear(news);
    const { board } = project;
    if (board !== null) this.#notices.hear(project.project.id, listNeeds(board));
    const waiting = this.#waiting();
    document.title = waiting > 0 ? `(${waiting}) Drover` : 'Drover';
    this.requestUpdate();
  }

  /** The number of items that wait for a person, as in VS Code's badge. */
  #waiting(): number {
    const board = this.#project?.board;
    if (board === null || board === undefined) return 0;
    return listNeeds(board).length;
  }

  #choose(id: string, place: Place = firstPlace()): void {
    for (const frame of this.frames) frame.dispose();
    this.frames = [];
    this.projectId = id;
    this.#connect();
    this.#show(place);
  }

  #socketIs(state: SocketState): void {
    this.socketState = state;
    if (state.kind === 'open') return;
    for (const project of this.#projects.values()) project.lost();
  }
}

/** On a phone, waiting questions come first. */
function firstPlace(): Place {
  return panelPlace(phone.matches ? 'inbox' : 'board');
}

customElements.define('drover-desk', DroverDesk);

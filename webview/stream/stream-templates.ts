// Parts of the stream panel around its transcript.

import { html, nothing, type TemplateResult } from 'lit';
import './drover-answer.ts';
import { hasIgnoredResults } from '../../server/core/plan/task.ts';
import type { QuestionView } from '../../server/protocol/views.ts';
import type { FollowState } from './transcript/follow.ts';
import { icon } from '../shared/looks/icon.ts';
import type { LogFeed } from '../shared/log/log-feed.ts';
import type { Entry } from '../shared/log/transcript.ts';
import type { BoundQuestions } from './session/question-binding.ts';
import { streamPages, type StreamPage } from '../shared/log/stream-memory.ts';
import type { StreamSession } from './session/stream-session.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import '../shared/looks/button.ts';

const pageTitles: { readonly [P in StreamPage]: string } = { task: 'Task', stream: 'Stream' };

/** Two tabs: the task, and its agent's output. Arrow keys switch between them. */
export function tabsTemplate(shown: StreamPage, show: (page: StreamPage) => void): TemplateResult {
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = streamPages.find((page) => page !== shown) ?? shown;
    const list = event.currentTarget as HTMLElement;
    show(other);
    list.querySelector<HTMLElement>(`[data-page=${other}]`)?.focus();
    event.preventDefault();
  };
  return html`<div class="tabs" role="tablist" aria-label="Parts of the task" @keydown=${onKey}>
    ${streamPages.map(
      (page) =>
        html`<button
          type="button"
          role="tab"
          data-page=${page}
          aria-selected=${page === shown ? 'true' : 'false'}
          tabindex=${page === shown ? 0 : -1}
          @click=${() => show(page)}
        >
          ${pageTitles[page]}
        </button>`,
    )}
  </div>`;
}

const promptKey = Number.MIN_SAFE_INTEGER;

/** The row above the log's first row. */
export function promptEntry({ prompt, attempt }: StreamSession): Entry {
  const atMs = attempt?.started_at_ms ?? 0;
  return {
    key: promptKey,
    atMs,
    revision: prompt === null ? 0 : 1,
    body: { kind: 'prompt', text: prompt },
  };
}

/** For VS Code's own menu on a row of the transcript. */
export function menuContext({ taskId, feed, task }: StreamSession): string {
  return JSON.stringify({
    webviewSection: 'attempt',
    taskId,
    attempt: feed?.attempt ?? 0,
    status: task?.status ?? '',
    preventDefaultContextMenuItems: true,
  });
}

export function emptyNote(
  session: StreamSession,
  entryCount: number,
): TemplateResult | typeof nothing {
  if (session.failure !== null) {
    const where = entryCount > 0 ? 'note below' : 'note';
    return html`<div class=${where} role="status">${icon('warning')} ${session.failure}</div>`;
  }
  if (entryCount > 0 || session.feed?.isOpen !== true) return nothing;
  return html`<div class="note" role="status">
    ${
      session.feed.attempt > 0
        ? 'No output from the agent yet.'
        : 'No agent has worked on this task yet.'
    }
  </div>`;
}

export function endButton(
  state: FollowState,
  feed: LogFeed | null,
  onClick: () => void,
): TemplateResult | typeof nothing {
  if (state.isFollowing && (feed?.isAtEnd ?? true)) return nothing;
  const count = state.newCount + (feed?.unseenEvents ?? 0);
  return html`<vscode-button class="to-end" @click=${onClick}>
    ${icon('arrow-down')} ${count > 0 ? `${count.toLocaleString('en')} new` : 'To the end'}
  </vscode-button>`;
}

/** Questions that wait for a person and have no row in the transcript. */
export function waitingTemplate(session: StreamSession, bound: BoundQuestions): TemplateResult {
  const { task } = session;
  return html`${session.questionsOfParts.map((question) => partTemplate(session, question))}
  ${bound.unbound.map(
    (question) =>
      html`<section class="waiting" aria-label="Waiting for you: ${visibleLine(question.text)}">
        <div class="words">${icon('question')}<span>${visibleLine(question.text)}</span></div>
        <drover-answer
          .question=${question}
          .isBusy=${session.answering.has(question.id)}
          @answer=${(event: CustomEvent<string>) => void session.answer(question, event.detail)}
        ></drover-answer>
      </section>`,
  )}
  ${task?.status === 'needs_review' ? reviewTemplate(session) : nothing}
  ${session.queuedHints.map(
    (text) =>
      html`<div class="queued">
        ${icon('watch')}<span>The agent will receive: ${visibleLine(text)}</span>
      </div>`,
  )}`;
}

function partTemplate(session: StreamSession, question: QuestionView): TemplateResult {
  const part = session.subTasks.find(({ id }) => id === question.task_id);
  const words = `${visibleLine(part?.title ?? '')}: ${visibleLine(question.text)}`;
  return html`<section class="waiting" aria-label="Waiting for you: ${words}">
    <div class="words">
      ${icon('question')}<span>${words}</span>
      <vscode-button @click=${() => void session.openPart(question.task_id)}> Open </vscode-button>
    </div>
  </section>`;
}

function reviewTemplate(session: StreamSession): TemplateResult {
  const { task } = session;
  const isPlan = task?.review_kind === 'plan';
  const hasIgnored = task !== null && hasIgnoredResults(task);
  const why = isPlan
    ? 'The plan above waits for your approval.'
    : (task?.verdict_reason ?? 'This waits for your review.');
  return html`<section class="waiting" aria-label="Waiting for your review">
    <div class="words">
      ${icon('eye')}<span>${visibleLine(why)}</span>
      ${
        isPlan || hasIgnored
          ? nothing
          : html`<vscode-button secondary @click=${() => void session.act('review')}>
              Review Changes
            </vscode-button>`
      }
      ${
        hasIgnored
          ? html`<vscode-button @click=${() => void session.approve('with_ignored')}>
              Land Ignored Files
            </vscode-button>`
          : nothing
      }
      <vscode-button ?secondary=${hasIgnored} @click=${() => void session.approve()}>
        ${task?.review_kind === 'candidate' ? 'Land This One' : 'Approve'}
      </vscode-button>
    </div>
  </section>`;
}

// The part of the stream panel with the log's rows: search, transcript, and the button to its end.

import { html, nothing, type TemplateResult } from 'lit';
import './find/drover-find.ts';
import './transcript/drover-transcript.ts';
import type { EntryActions } from './transcript/entry-view.ts';
import type { FindQuery } from './find/find-entries.ts';
import type { FollowState } from './transcript/follow.ts';
import type { BoundQuestions } from './session/question-binding.ts';
import type { StreamFind } from './find/stream-find.ts';
import type { StreamSession } from './session/stream-session.ts';
import { emptyNote, endButton } from './stream-templates.ts';
import { todosTemplate } from './transcript/todo-template.ts';
import type { Entry } from '../shared/log/transcript.ts';

export interface StreamBody {
  readonly session: StreamSession;
  readonly bound: BoundQuestions;
  readonly find: StreamFind | null;
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly folds: ReadonlySet<string>;
  readonly shownAll: ReadonlySet<number>;
  readonly actions: EntryActions;
  readonly follow: FollowState;
  readonly context: string;
  readonly on: {
    readonly search: (query: FindQuery) => void;
    readonly closeFind: () => void;
    readonly follow: (state: FollowState) => void;
    readonly moved: () => void;
    readonly toEnd: () => void;
  };
}

export function bodyTemplate(body: StreamBody): TemplateResult {
  const { session, find, entries, on } = body;
  const { feed } = session;
  return html`<div class="body" role="tabpanel" aria-label="Stream">
    ${
      find?.query === null || find === null
        ? nothing
        : html`<drover-find
            .query=${find.query}
            .result=${find.result}
            @find=${(event: CustomEvent<FindQuery>) => on.search(event.detail)}
            @find-step=${(event: CustomEvent<'older' | 'newer'>) => void find.step(event.detail)}
            @find-close=${on.closeFind}
          ></drover-find>`
    }
    ${todosTemplate(feed?.todos ?? null)}
    ${feed?.isReadingOlder === true ? html`<div class="older">Reading…</div>` : nothing}
    <drover-transcript
      .entries=${entries}
      .revision=${body.revision}
      .questions=${body.bound.byKey}
      .answering=${session.answering}
      .folds=${body.folds}
      .shownAll=${body.shownAll}
      .actions=${body.actions}
      .query=${find?.query ?? null}
      .currentHit=${find?.current ?? null}
      .followState=${body.follow}
      .context=${body.context}
      .isPaused=${session.task?.status === 'paused' && session.isNewest}
      .worktree=${session.attempt?.worktree_path ?? session.task?.worktree_path ?? null}
      @follow=${(event: CustomEvent<FollowState>) => on.follow(event.detail)}
      @near-front=${() => void feed?.readOlder()}
      @near-back=${() => void feed?.readNewer()}
      @moved=${on.moved}
      @to-end=${on.toEnd}
    ></drover-transcript>
    ${emptyNote(session, entries.length)} ${endButton(body.follow, session.feed, on.toEnd)}
  </div>`;
}

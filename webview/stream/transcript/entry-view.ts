// An entry template's data in addition to the entry: the folds, the question that it asks, the
// effect of a click.

import type { QuestionView } from '../../../server/protocol/views.ts';
import type { FileReference } from '../../shared/text/file-reference.ts';
import type { Entry } from '../../shared/log/transcript.ts';

export interface EntryLook {
  readonly isOpen: boolean;
  readonly showsAll: boolean;
  /** The open question that this entry's buttons answer. */
  readonly question: QuestionView | null;
  /** An answer is being sent. */
  readonly isAnswering: boolean;
  /** Its buttons can be reached with Tab. */
  readonly isActive: boolean;
  /** The agent's worktree: paths inside it are shown relative to it. */
  readonly worktree: string | null;
  /** The last entry of a paused task. */
  readonly isPaused: boolean;
}

export interface EntryActions {
  toggle(entry: Entry): void;
  showAll(entry: Entry): void;
  copy(entry: Entry): void;
  answer(question: QuestionView, choice: string): void;
  openFile(file: FileReference): void;
}

/** Identifies an entry's fold, even after a reload; null if it cannot be folded. */
export function foldKey(entry: Entry): string | null {
  const { body } = entry;
  switch (body.kind) {
    case 'tool':
      return `tool:${body.id}`;
    case 'result':
      return `result:${body.id}`;
    case 'thinking':
      return `thinking:${entry.atMs}`;
    case 'prompt':
      return 'prompt';
    case 'question':
      // An entry that waits for an answer is never folded.
      return body.state === 'open' ? null : `question:${body.requestId}`;
    case 'started':
    case 'message':
    case 'output':
    case 'retry':
    case 'hint':
    case 'note':
    case 'exit':
      return null;
  }
}

const editTools: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

/** Edits are open; everything else that can be folded is folded until the user opens it. */
export function isOpenAtFirst(entry: Entry): boolean {
  if (entry.body.kind === 'question') return entry.body.state === 'open';
  return entry.body.kind === 'tool' && editTools.has(entry.body.name);
}

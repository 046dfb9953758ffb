// The page of a task as one part of its panel, and the condition for opening it first.

import { html, type TemplateResult } from 'lit';
import type { TaskView } from '../../../server/protocol/views.ts';
import type { HostState } from '../../messages/messages.ts';
import type { Host } from '../host.ts';
import type { StreamPage } from '../log/stream-memory.ts';
import './drover-task.ts';

/** A task that no agent has worked on has no stream yet, so its page is shown. */
export function usualPage(task: TaskView | null): StreamPage {
  const isFresh = task !== null && task.attempts === 0 && task.branch === null;
  return isFresh && (task.status === 'ready' || task.status === 'blocked') ? 'task' : 'stream';
}

export function taskTemplate(
  host: Host | null,
  { board, agents }: HostState,
  task: TaskView | null,
): TemplateResult {
  return html`<drover-task
    role="tabpanel"
    aria-label="Task"
    .host=${host}
    .task=${task}
    .board=${board}
    .agents=${agents}
  ></drover-task>`;
}

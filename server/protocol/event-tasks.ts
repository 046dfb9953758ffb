// The tasks that an event concerns: its own, or those whose work a gate tested together.

import type { EventView } from './views.ts';

export function isAboutTask(event: Pick<EventView, 'task_id' | 'data'>, id: string): boolean {
  if (event.task_id === id) return true;
  const ids = event.data['task_ids'];
  return Array.isArray(ids) && ids.includes(id);
}

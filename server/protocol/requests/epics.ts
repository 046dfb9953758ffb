// Requests about epics.

import { mergeModes } from '../../core/forge/pull-facts.ts';
import type { PullView } from '../run-views.ts';
import type { EpicView, TaskView } from '../views.ts';
import { flag, id, idOrNull, oneOf, optional, text, textOrNull } from './fields.ts';

const epicFields = { description: optional(text), runs_on: optional(textOrNull) };

export const epicShapes = {
  'epic.add': { title: text, ...epicFields },
  'epic.list': {},
  'epic.show': { id },
  /** The pull request of an epic; null if it never had one. */
  'epic.pull': { id },
  /** Replies in a thread of the epic's pull request. The backend sends it once. */
  'epic.reply': { id, thread: id, text },
  /** Switches for the epic's open pull request, which outlast restarts. */
  'epic.switch': {
    id,
    watch: optional(flag),
    fix: optional(flag),
    merge: optional(oneOf(mergeModes)),
  },
  'epic.edit': { id, title: optional(text), ...epicFields },
  'epic.close': { id },
  /** Moves an epic before another one (null: to the end). */
  'epic.move': { id, before: idOrNull },
  /** Removes an epic without tasks. */
  'epic.remove': { id },
};

export interface EpicAnswers {
  'epic.add': EpicView;
  'epic.list': readonly EpicView[];
  'epic.show': EpicView & { readonly tasks: readonly TaskView[] };
  'epic.pull': PullView | null;
  'epic.reply': PullView;
  'epic.switch': PullView;
  'epic.edit': EpicView;
  'epic.close': EpicView;
  'epic.move': { id: string };
  'epic.remove': { removed: string };
}

// How panels show conflicts with other work before either side has landed.

import type { ForecastView } from '../../server/protocol/task-fields.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { visibleLine } from './looks/visible-text.ts';

const namedMax = 3;
const charsMax = 300;

export function foreseenConflicts({ forecast = [] }: TaskView): readonly ForecastView[] {
  return forecast.filter(({ level }) => level === 'conflict');
}

/** Paths and ids are untrusted text. */
export function foreseenWords({ other, files }: ForecastView): string {
  const named = files.slice(0, namedMax).join(', ');
  const more = files.length > namedMax ? ` and ${files.length - namedMax} more` : '';
  const what = other ?? 'landed work';
  return visibleLine(`conflicts with ${what} in ${named}${more}`.slice(0, charsMax));
}

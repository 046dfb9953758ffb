// How panels show the gate that runs on a task's work.

import { runningGateText } from '../../server/core/line/gate-words.ts';
import { epicLinePrefix } from '../../server/core/plan/outcome.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { visibleLine } from './looks/visible-text.ts';

const titleCharsMax = 30;

/** Returns null if no gate runs on it. Titles are untrusted text. */
export function runningGateWords({ running_gate: gate }: TaskView): string | null {
  if (gate === undefined) return null;
  const names = gate.titles.map((title) =>
    title.length > titleCharsMax ? `${title.slice(0, titleCharsMax - 1)}…` : title,
  );
  const line = gate.line.startsWith(epicLinePrefix) ? 'the epic' : gate.line;
  return visibleLine(runningGateText({ ...gate, line }, names));
}

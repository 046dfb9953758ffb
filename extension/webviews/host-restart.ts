// Whether this extension host follows another one in the same window, whose panels nobody holds
// then. Pure.

import type { Memento } from 'vscode';

/**
 * Whether the window is the one of the extension host before this one (`same`: its panels are
 * lost), another one (`new`: VS Code gives every panel back, however long that takes), or whether
 * that cannot be told.
 */
export type HostRestart = 'same' | 'new' | 'unknown';

/** What VS Code says of its session where telemetry is built out: the same in every window. */
const noSession = 'someValue.sessionId';
const sessionKey = 'drover.session';

/**
 * Tells the restart from the session that was noted by the extension host before this one, and
 * notes this one.
 */
export function noteSession(
  memory: Pick<Memento, 'get' | 'update'>,
  sessionId: string,
): HostRestart {
  const before = memory.get<string>(sessionKey);
  void memory.update(sessionKey, sessionId);
  if (sessionId === noSession || sessionId === '') return 'unknown';
  return before === sessionId ? 'same' : 'new';
}

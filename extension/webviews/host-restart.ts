// Detects whether this extension host follows another one in the same window, whose panels have no
// owner then. Pure.

import type { Memento } from 'vscode';

/**
 * Whether the window is the previous extension host's (`same`: its panels are lost), another one
 * (`new`: VS Code restores every panel, however long that takes), or unknown.
 */
export type HostRestart = 'same' | 'new' | 'unknown';

/** The session ID that VS Code reports in builds without telemetry: every window has the same. */
const noSession = 'someValue.sessionId';
const sessionKey = 'drover.session';

/**
 * Detects the restart from the session that the previous extension host stored, and stores this
 * one.
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

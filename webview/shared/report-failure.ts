// Failures that a page cannot display itself: VS Code shows them, so that no button fails silently.

import type { HostActionName, HostActions } from '../messages/messages.ts';
import { AskFailure } from './asks.ts';
import { visibleLine } from './looks/visible-text.ts';

interface Extension {
  action<N extends HostActionName>(
    name: N,
    params: HostActions[N]['params'],
  ): Promise<HostActions[N]['result']>;
}

const openSettings = 'Open .drover.toml';

/** `what`: the failed action, in two or three words. */
export async function reportFailure(host: Extension, error: unknown, what = ''): Promise<void> {
  const reason = visibleLine(error instanceof Error ? error.message : String(error));
  const text = what === '' ? reason : `${what}: ${reason}`;
  const buttons = isBySettings(error) ? { buttons: [openSettings] } : {};
  try {
    const { button } = await host.action('notify', { level: 'error', text, ...buttons });
    if (button === openSettings) await host.action('command', { id: 'drover.openProjectSettings' });
  } catch {
    // If this message is lost, the extension no longer exists.
  }
}

/** The settings file is the cause, so the user probably wants to open it. */
export function isBySettings(error: unknown): boolean {
  return error instanceof AskFailure && error.kind === 'bad_configuration';
}

/** Reports each refused request that no component handles. */
export function reportUnhandled(host: Extension): void {
  window.addEventListener('unhandledrejection', (event) => {
    if (!(event.reason instanceof AskFailure)) return;
    event.preventDefault();
    void reportFailure(host, event.reason);
  });
}

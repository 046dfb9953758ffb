// Notifications of the operating system with its sound, for a person who does not have VS Code in
// front. VS Code does not let extensions play its accessibility signals, so this sound replaces
// them.

import type { Platform, ProgramStart } from '../../server/platform/port.ts';

export interface NotificationPlace {
  readonly platform: Pick<Platform, 'notification'>;
  /**
   * The extension runs on another machine than the window: a notification there would not be seen.
   */
  readonly isRemote: boolean;
  readonly isFocused: boolean;
  readonly isWanted: boolean;
}

/**
 * Returns null if VS Code's own message is enough, or if this system has no program for it. The
 * text is passed as arguments and never part of a script.
 */
export function notificationCommand(
  { platform, isRemote, isFocused, isWanted }: NotificationPlace,
  title: string,
  text: string,
): ProgramStart | null {
  return isRemote || isFocused || !isWanted ? null : platform.notification(title, text);
}

// Notifications of the operating system, with its sound: for a person who does not have VS Code in
// front. VS Code lets no extension play its accessibility signals, so this sound stands for them.

import { withoutMarkup } from '../../server/core/format.ts';

/** A program with its arguments; the text is passed as arguments and never part of a script. */
export interface NotificationCommand {
  readonly program: string;
  readonly args: readonly string[];
}

export interface NotificationPlace {
  readonly platform: string;
  /**
   * The extension runs on another machine than the window: a notification there would not be seen.
   */
  readonly isRemote: boolean;
  readonly isFocused: boolean;
  readonly isWanted: boolean;
}

const appleScript = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv) sound name "default"',
  'end run',
];

/** Null: VS Code's own message is enough, or this system has no program for it. */
export function notificationCommand(
  { platform, isRemote, isFocused, isWanted }: NotificationPlace,
  title: string,
  text: string,
): NotificationCommand | null {
  if (isRemote || isFocused || !isWanted) return null;
  switch (platform) {
    case 'linux': {
      const args = ['--app-name=Drover', '--hint=string:sound-name:message-new-instant', '--'];
      // Many desktops read the text as markup.
      return { program: 'notify-send', args: [...args, title, withoutMarkup(text)] };
    }
    case 'darwin':
      return {
        program: '/usr/bin/osascript',
        args: [...appleScript.flatMap((line) => ['-e', line]), title, text],
      };
    default:
      return null;
  }
}

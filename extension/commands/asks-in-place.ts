// Commands that ask a question and then change the plan. The keyboard focus returns to its previous
// place.

import { keyboardBack } from '../notices/keyboard-back.ts';
import { withProject, type CommandHandler } from './context.ts';

export function asksInPlace(onProject: Parameters<typeof withProject>[0]): CommandHandler {
  return withProject(async (context, project, target) => {
    const back = keyboardBack();
    try {
      await onProject(context, project, target);
    } finally {
      await back();
    }
  });
}
